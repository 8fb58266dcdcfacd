"""Sessions in processes of their own: `python -m tests.wf_mcp.execution.sessions.processes ACT FOLDER` prints JSON."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.wf_mcp.execution.sessions.workplace import agent, calling, delivered, resumed, saying, started, tokens, told
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.stores import open_stores
from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_core.sessions import check_history
from wf_mcp.app import App
from wf_mcp.execution.sessions.keeping import keep_going

RACERS = 8
ROUNDS = 5
MANY = 300
LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


@asynccontextmanager
async def application(folder: Path) -> AsyncGenerator[App]:
    """Open a program over a store that every process of the test shares; its tools note each call."""

    def noting(name: str) -> Any:
        async def act(given: dict[str, Any]) -> Any:
            with (folder / "noted").open("a") as noted:
                noted.write(f"{name} {given.get('n', '')}\n")
            if name == "die" and not (folder / "died").exists():
                (folder / "died").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            await anyio.sleep(0.02)
            return {"result": f"{name} done"}

        return act

    source = ScriptedSource(acts={name: noting(name) for name in ("write", "far", "die")})
    async with opened(source, stores=open_stores(f"file://{folder / 'home'}")) as app:
        try:
            yield app
        finally:
            await app.stores.close()


def noted(folder: Path) -> dict[str, int]:
    notes = folder / "noted"
    return dict(Counter(notes.read_text().splitlines())) if notes.exists() else {}


def forked(work: Callable[[], Coroutine[Any, Any, Any]], gate: tuple[int, int] | None = None) -> tuple[int, int]:
    """Do work in a process of its own, from the moment at which `gate` is closed; give it, and where it answers."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            if gate is not None:
                os.close(gate[1])
                os.read(gate[0], 1)
            os.write(writing, json.dumps(anyio.run(work)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return child, reading


def answer(child: int, reading: int) -> Any:
    """Wait for the end of a process, and give what it answered; None of one that was killed."""
    said = Path(f"/dev/fd/{reading}").read_bytes()
    os.close(reading)
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def race(folder: Path) -> Any:
    """Let processes resume one session at the same instant: what each was told, and how often its call was made."""
    rounds: list[Any] = []

    async def begin() -> str:
        async with application(folder) as app:
            script = [calling("far"), calling(("write", {"n": len(rounds)})), saying("Done.")]
            session = await started(app, agent(folder / "agent", script, "far", "write", rules={"far": LATER}))
            await delivered(app, tokens(await resumed(app, session))["far"], "there")
            return session

    for number in range(ROUNDS):
        session = SessionId(answer(*forked(begin)))

        async def attempt(session: SessionId = session) -> str:
            async with application(folder) as app:
                try:
                    return (await resumed(app, session)).record.status
                except WfError as error:
                    return error.code

        gate = os.pipe()
        racers = [forked(attempt, gate) for _ in range(RACERS)]
        os.close(gate[1])
        said = [answer(*racer) for racer in racers]
        os.close(gate[0])
        rounds.append((said, noted(folder).get(f"write {number}")))
    return rounds


def kill(folder: Path) -> Any:
    """Kill a process in the middle of a call, then go on: what the model was told, and what was done."""

    async def begin() -> None:
        async with application(folder) as app:
            script = [calling("die", ("write", {"n": 1})), *[saying("{{results}}")] * 3]
            session = await started(app, agent(folder / "agent", script, "die", "write"))
            (folder / "session").write_text(session)
            await resumed(app, session)

    assert answer(*forked(begin)) is None

    async def go_on() -> Any:
        async with application(folder) as app:
            session = SessionId((folder / "session").read_text())
            assert (await app.stores.sessions.load_record(session)).status == "running"
            view = await resumed(app, session, prompt="What happened?")
            placed = told(view)
            check_history(view.session.turns[:3])
            (call,) = view.pending
            await delivered(app, call.token, "it did happen")
            last = await resumed(app, session)
            return placed, call.state, told(last), last.record.status

    return answer(*forked(go_on)), noted(folder)


def many(folder: Path) -> Any:
    """Deliver from one process to sessions of another, in the instants in which they come to wait: how many end."""

    async def serve() -> Any:
        ended = anyio.Event()
        answered: set[str] = set()

        async with application(folder) as app, anyio.create_task_group() as tasks:

            def hear(session_id: str) -> None:
                tasks.start_soon(look, session_id)

            async def look(session_id: str) -> None:
                if (await app.stores.sessions.load_record(SessionId(session_id))).status == "answered":
                    answered.add(session_id)
                    if len(answered) == MANY:
                        ended.set()

            tasks.start_soon(keep_going, app.sessions)
            snapshot = agent(folder / "agent", [calling("far"), saying("Done.")], "far", rules={"far": LATER})
            with app.sessions.changes.heard_by(hear):
                for _ in range(MANY):
                    session = await started(app, snapshot, auto=True)
                    await app.sessions.resume(session)
                with anyio.move_on_after(100):
                    await ended.wait()
            tasks.cancel_scope.cancel()
        return len(answered)

    async def deliver() -> Any:
        count = 0
        async with application(folder) as app:
            while count < MANY:
                page = await app.stores.continuations.list_open(principal=None, now=app.clock.now(), limit=50)
                for waiting in page.items:
                    await delivered(app, waiting.token, "there")
                    count += 1
        return count

    folder.joinpath("home").mkdir(parents=True, exist_ok=True)
    serving, delivering = forked(serve), forked(deliver)
    return answer(*delivering), answer(*serving)


if __name__ == "__main__":
    acts: dict[str, Callable[[Path], Any]] = {"race": race, "kill": kill, "many": many}
    sys.stdout.write(json.dumps(acts[sys.argv[1]](Path(sys.argv[2]))))
