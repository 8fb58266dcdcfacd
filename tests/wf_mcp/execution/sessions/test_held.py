"""A session that is held: what of it is stored, and when."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, saying, started
from tests.wf_mcp.scripted import opened
from wf_artifacts.errors import SessionClaimLost
from wf_core.sessions import answer
from wf_mcp.execution.sessions.loading import Sessions

pytestmark = pytest.mark.anyio


async def test_what_was_done_is_stored_with_the_record_and_told(tmp_path: Path) -> None:
    heard: list[str] = []
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        held, _ = await Sessions(app.sessions.means).hold(session)
        before = held.size
        with app.sessions.changes.heard_by(heard.append):
            await held.store("running")
            answer(held.session, "Hello.")
            assert not held.is_stored
            await held.rest()
            await held.rest()
        stored = await app.stores.sessions.load(session)
    assert (stored.record.status, stored.record.answer, stored.record.turns) == ("answered", "Hello.", 2)
    assert held.is_stored
    assert held.size == before + len(stored.events[-1])
    assert heard == [session, session]


async def test_a_write_that_fails_leaves_nothing_that_could_follow_it(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        sessions = Sessions(app.sessions.means)
        held, _ = await sessions.hold(session)
        await held.leave()
        answer(held.session, "Hello.")
        with pytest.raises(SessionClaimLost):
            await held.rest()
        assert held.broken
        sessions.remember(held)
        _, anew = await sessions.hold(session)
        assert anew


async def test_an_error_of_the_model_is_in_the_record_until_the_next_word(tmp_path: Path) -> None:
    error: dict[str, Any] = {"code": "model_unavailable", "message": "It is away."}
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        held, _ = await Sessions(app.sessions.means).hold(session)
        await held.rest(error=error)
        assert (held.record.status, held.record.error) == ("ready", error)
        await held.store("running")
        assert held.record.error is None
