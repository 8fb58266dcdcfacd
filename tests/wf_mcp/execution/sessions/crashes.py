"""Kills a process at every moment of a session: `python -m tests.wf_mcp.execution.sessions.crashes FOLDER URL`.

`{home}` in the address of the store stands for a folder. The story goes from one act to the next. What is on disk
before an act is kept; for each moment of each change that the act makes, a process does it over a copy and is killed
there with SIGKILL. Another then goes on to the answer. What is wrong with how that ends is printed as JSON.
"""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from tests.wf_artifacts.points import EVERY_MOMENT, at_change, die
from tests.wf_mcp.execution.sessions.workplace import (
    ME,
    READING,
    agent,
    calling,
    delivered,
    resumed,
    saying,
    tokens,
    tool,
)
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.stores import open_stores
from wf_core.calls.contract import Contract
from wf_core.calls.results import as_text
from wf_core.ids import session_id
from wf_core.sessions import UserTurn, check_history
from wf_mcp.app import App
from wf_mcp.execution.sessions.errors import CallAnswered
from wf_mcp.execution.sessions.views import SessionView

SESSION = session_id(datetime(2026, 11, 30, tzinfo=UTC), 7)
MOST_STOPS = 6
MOST_CHANGES_APART = 3
"""How many moments in a row an act has to survive before it is over: it may make a change more or less."""

SCRIPT = [calling("write", "far", "read", "ask"), calling("write"), *[saying("{{results}}")] * 4]
RULES: dict[str, Any] = {
    "far": {"tag": "defer", "reason": "external worker"},
    "ask": {"tag": "defer", "reason": "it writes", "approval": True},
}


@asynccontextmanager
async def application(home: Path, url: str) -> AsyncGenerator[App]:
    """Open a program over the home, with tools that note each call in a file there."""
    acts = {name: noting(home, name) for name in ("write", "read", "ask", "far")}
    source = ScriptedSource(acts=acts, contracts={"read": Contract(hints=READING)})
    async with opened(source, stores=open_stores(url.format(home=home))) as app:
        try:
            yield app
        finally:
            await app.stores.close()


def noting(home: Path, name: str) -> Callable[[dict[str, Any]], Awaitable[Any]]:
    async def act(given: dict[str, Any]) -> Any:
        with (home / "noted").open("a") as noted:
            noted.write(f"{name}\n")
        return {"result": f"{name} done"}

    return act


async def create(app: App, home: Path) -> None:
    tools = ("write", tool("read", hints=READING), "ask", "far")
    snapshot = agent(home.parent / "agent", SCRIPT, *tools, rules=RULES)
    await app.sessions.create(snapshot, "Go.", principal=ME, session_id=SESSION)


async def resume(app: App, home: Path) -> None:
    await resumed(app, SESSION)


async def deliver(app: App, home: Path) -> None:
    await delivered(app, tokens(await app.sessions.view(SESSION))["far"], "delivered")


async def approve(app: App, home: Path) -> None:
    await delivered(app, tokens(await app.sessions.view(SESSION))["ask"], kind="approval")


Act = Callable[[App, Path], Awaitable[None]]
STORY: list[Act] = [create, resume, deliver, approve, resume]


async def go_on(app: App, home: Path) -> SessionView:
    """Go on to the answer as a person and a worker would, from wherever the session stands."""
    await create(app, home)
    for _ in range(MOST_STOPS):
        view = await resumed(app, SESSION)
        if view.record.status == "answered":
            return view
        for call in view.pending:
            kind = "approval" if call.kind == "approval" else "result"
            with suppress(CallAnswered):
                await delivered(app, call.token, "settled" if call.kind == "in_doubt" else "delivered", kind=kind)
    raise AssertionError("the session comes to no end")


def faults(view: SessionView, home: Path) -> list[str]:
    """Say what is wrong: a call made twice, one that is said to be done and is not, a history that is refused."""
    found: list[str] = []
    made = Counter((home / "noted").read_text().split()) if (home / "noted").exists() else Counter[str]()
    turns = [turn for turn in view.session.turns if isinstance(turn, UserTurn)]
    told = [(one.name, as_text(one.result), one.held) for turn in turns for one in turn.results]
    told += [(one.name, as_text(one.result), False) for turn in turns for one in turn.notices]
    check_history([*view.session.turns[:-1]])
    for name, most in (("write", 2), ("ask", 1)):
        said = sum(text == f"{name} done" for tool_name, text, _ in told if tool_name == name)
        doubted = sum(held or text == "settled" for tool_name, text, held in told if tool_name == name)
        if made[name] > most:
            found.append(f"{name} was made {made[name]} times")
        if not said <= made[name] <= said + doubted:
            found.append(f"{name} was made {made[name]} times, said {said} times, doubted {doubted} times")
    if made["far"]:
        found.append("far was made here")
    if [text for name, text, _ in told if name == "far"] != ["delivered"]:
        found.append(f"far: {told}")
    return found


def forked(home: Path, url: str, act: Act, point: int | None = None) -> bool:
    """Do an act in a process of its own, and tell whether it came to its end before it was killed."""
    child = os.fork()
    if not child:
        status = 1
        try:

            async def work() -> None:
                async with application(home, url) as app:
                    await act(app, home)

            if point is None:
                anyio.run(work)
            else:
                with at_change(point, die, moments=EVERY_MOMENT):
                    anyio.run(work)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, -signal.SIGKILL}, f"{act.__name__} at {point}: {status}"
    return status == 0


async def ends(home: Path, url: str) -> list[str]:
    async with application(home, url) as app:
        return faults(await go_on(app, home), home)


def main(folder: Path, url: str, every: int = 1) -> None:
    """Go through the story."""
    before = folder / "before" / "home"
    before.mkdir(parents=True)
    wrong: list[str] = []
    killed = 0
    for number, act in enumerate(STORY):
        survived = 0
        for point in count(number % every, every):
            home = folder / f"{number}_{point}" / "home"
            shutil.copytree(before, home)
            if forked(home, url, act, point):
                survived += 1
                if survived == MOST_CHANGES_APART:
                    break
            else:
                killed += 1
            wrong += [f"{act.__name__} ({number}), killed at {point}: {fault}" for fault in anyio.run(ends, home, url)]
            shutil.rmtree(home.parent)
        assert forked(before, url, act)
    wrong += anyio.run(ends, before, url)
    sys.stdout.write(json.dumps({"killed": killed, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
