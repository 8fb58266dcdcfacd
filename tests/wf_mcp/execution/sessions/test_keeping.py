"""Going on with sessions that nobody asks for."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    agent,
    calling,
    delivered,
    result_of,
    resumed,
    saying,
    started,
    tokens,
    told,
)
from tests.wf_mcp.scripted import Gate, ScriptedSource, opened
from wf_artifacts.errors import StoreFull, StoreUnavailable
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import SessionId
from wf_mcp.app import App
from wf_mcp.execution.sessions import keeping

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


@asynccontextmanager
async def kept(app: App) -> AsyncGenerator[None]:
    """Go on with sessions meanwhile."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeping.keep_going, app.sessions)
        await anyio.lowlevel.checkpoint()
        yield
        tasks.cancel_scope.cancel()


async def until_answered(app: App, *session_ids: SessionId) -> None:
    """Wait until sessions are stored as answered."""
    for session_id in session_ids:
        await until(app, session_id, lambda record: record.status == "answered")


async def until_turns(app: App, session_id: SessionId, turns: int) -> None:
    """Wait until a session is stored as answered with so many turns."""
    await until(app, session_id, lambda record: (record.status, record.turns) == ("answered", turns))


async def until(app: App, session_id: SessionId, holds: Callable[[SessionRecord], bool]) -> None:
    """Wait until something holds for a session as it is stored."""
    changed = anyio.Event()

    def hear(session_id: str) -> None:
        changed.set()

    with app.sessions.changes.heard_by(hear), anyio.fail_after(10):
        while not holds(await app.stores.sessions.load_record(session_id)):
            await changed.wait()
            changed = anyio.Event()


async def waiting_session(app: App, folder: Path, *, auto: bool = True) -> tuple[SessionId, str]:
    snapshot = agent(folder, [calling("echo"), saying("{{results}}")], "echo", rules={"echo": LATER})
    session = await started(app, snapshot, auto=auto)
    return session, tokens(await resumed(app, session))["echo"]


async def test_a_session_goes_on_at_once_when_its_result_is_delivered_here(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app, kept(app):
        session, token = await waiting_session(app, tmp_path)
        await delivered(app, token, "there")
        await until_answered(app, session)


async def test_a_session_that_is_not_to_go_on_by_itself_waits_for_a_person(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app, kept(app):
        session, token = await waiting_session(app, tmp_path, auto=False)
        other, other_token = await waiting_session(app, tmp_path)
        await delivered(app, token, "there")
        await delivered(app, other_token, "there")
        await until_answered(app, other)
        assert (await app.sessions.view(session)).record.status == "waiting"


async def test_a_program_that_keeps_nothing_going_takes_no_session_on(tmp_path: Path) -> None:
    """A command delivers and ends; a server goes on with the session."""
    async with opened(ScriptedSource()) as app:
        session, token = await waiting_session(app, tmp_path)
        await delivered(app, token, "there")
        assert not app.sessions.advances(session)


@pytest.mark.parametrize("own", [True, False], ids=["put to rest here", "put to rest elsewhere"])
async def test_what_another_process_delivers_is_found(tmp_path: Path, monkeypatch: Any, *, own: bool) -> None:
    monkeypatch.setattr(keeping, "FIRST_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(keeping, "LOOK_AROUND_SECONDS", 0.05)
    stores = open_stores("memory://")
    async with opened(ScriptedSource(), stores=stores) as here, kept(here):
        async with opened(ScriptedSource(), stores=stores) as elsewhere:
            session, token = await waiting_session(here if own else elsewhere, tmp_path)
            now = here.clock.now()
            await stores.continuations.deliver(token, result_of("there", at=now), principal=None, now=now)
        await until_answered(here, session)
        await anyio.sleep(0.1)
        assert here.sessions.going.waiting == {}


async def abandoned(stores: Stores, folder: Path, count: int, *, auto: bool = True) -> list[SessionId]:
    """Leave sessions in the middle of a call, as a process does that is gone."""
    left: list[SessionId] = []
    gate = Gate()
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app:
        for _ in range(count):
            snapshot = agent(folder, [calling("hold"), *[saying("Done.")] * 2], "hold")
            left.append(await started(app, snapshot, auto=auto))
            gate.entered = anyio.Event()
            await app.sessions.resume(left[-1])
            await gate.entered.wait()
    return left


async def test_abandoned_sessions_are_taken_over_and_their_calls_in_doubt_are_told(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    left = await abandoned(stores, tmp_path, 2)
    gate = Gate()
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app, kept(app):
        await until_answered(app, *left)
        view = await app.sessions.view(left[0])
        assert [(call.state, call.kind) for call in view.pending] == [("in_doubt", "in_doubt")]
        assert view.record.answer == "Done."
        await delivered(app, view.pending[0].token, "it did happen")
        await until_turns(app, left[0], 6)
        assert told(await app.sessions.view(left[0])) == ["notice hold: it did happen"]
        assert not gate.entered.is_set()


async def test_what_another_process_tells_of_a_call_in_doubt_is_found_though_the_session_has_answered(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(keeping, "FIRST_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.02)
    stores = open_stores("memory://")
    (left,) = await abandoned(stores, tmp_path, 1)
    source = ScriptedSource(acts={"hold": Gate()})
    async with opened(source, stores=stores) as elsewhere:
        view = await resumed(elsewhere, left)
        assert view.record.status == "answered"
        await delivered(elsewhere, view.pending[0].token, "it did happen")
        async with opened(ScriptedSource(acts={"hold": Gate()}), stores=stores) as here, kept(here):
            await until_turns(here, left, 6)
            await anyio.sleep(0.1)
            assert here.sessions.going.waiting == {}


async def test_an_abandoned_session_that_is_not_to_go_on_is_put_to_rest(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    (left,) = await abandoned(stores, tmp_path, 1, auto=False)
    async with opened(ScriptedSource(acts={"hold": Gate()}), stores=stores) as app:
        assert await keeping.take_over(app.sessions, [left]) == {}
        await app.sessions.wait(app.sessions.handle(left))
        view = await app.sessions.view(left)
    assert (view.record.status, len(view.session.turns), view.record.pending[0].state) == ("waiting", 3, "in_doubt")


async def test_a_store_that_fails_for_one_of_five_keeps_it_for_the_next_time(
    tmp_path: Path, monkeypatch: Any, caplog: Any
) -> None:
    """C34: four are taken over now, the fifth on the next pass, and the error is reported."""
    stores = open_stores("memory://")
    left = await abandoned(stores, tmp_path, 5)
    broken = left[1]
    load = stores.sessions.load_record

    async def failing(session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        if session_id == broken:
            raise StoreUnavailable(f"sessions/{session_id}", "it blinks")
        return await load(session_id, principal=principal)

    async with opened(ScriptedSource(acts={"hold": Gate()}), stores=stores) as app:
        with caplog.at_level(logging.WARNING), monkeypatch.context() as patched:
            patched.setattr(stores.sessions, "load_record", failing)
            assert set(await keeping.take_over(app.sessions, await stores.sessions.abandoned())) == {broken}
        assert "it blinks" in caplog.text
        await until_answered(app, *(one for one in left if one != broken))
        assert await stores.sessions.abandoned() == [broken]
        assert await keeping.take_over(app.sessions, [broken]) == {}
        await until_answered(app, broken)


@pytest.mark.parametrize("backend", ["file", "sqlite"])
async def test_a_session_that_a_full_store_tore_from_its_process_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: Any, backend: str
) -> None:
    """However often it was tried meanwhile; nobody has to ask for it."""
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(keeping, "LOOK_AROUND_SECONDS", 0.01)
    monkeypatch.setattr(keeping, "FIRST_LOOK_SECONDS", 0.0)
    stores = open_stores(tmp_path.as_uri() if backend == "file" else f"sqlite:///{tmp_path}/wf.db")
    store, failed, tried = stores.sessions.store, 0, anyio.Event()

    async def full(claim: SessionClaim, record: SessionRecord, events: Sequence[bytes] = (), **kept: bool) -> None:
        nonlocal failed
        if record.status == "running" and not failed:
            return await store(claim, record, events, **kept)
        failed += 1
        if failed > 3 * keeping.MOST_ATTEMPTS:
            tried.set()
        raise StoreFull("sessions", "No space left on device")

    async with stores, opened(ScriptedSource(), stores=stores) as app:
        session = await started(app, agent(tmp_path, [saying("done")]), auto=True)
        with monkeypatch.context() as patched:
            patched.setattr(stores.sessions, "store", full)
            async with kept(app):
                with pytest.raises(StoreFull):
                    await resumed(app, session)
                with anyio.fail_after(10):
                    await tried.wait()
                patched.undo()
                await until_answered(app, session)
