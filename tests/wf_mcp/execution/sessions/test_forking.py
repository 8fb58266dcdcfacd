"""Copies of sessions."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    READING,
    agent,
    calling,
    delivered,
    resumed,
    saying,
    started,
    tokens,
    told,
    tool,
)
from tests.wf_mcp.scripted import Gate, ScriptedSource, opened
from wf_artifacts.errors import SessionNotFound
from wf_artifacts.stores import open_stores
from wf_core.ids import SessionId, is_session_id

pytestmark = pytest.mark.anyio

PUT_OFF = {"fetch": {"tag": "defer", "reason": "outside"}}


async def test_a_copy_and_its_original_are_answered_apart(tmp_path: Path) -> None:
    async with opened(ScriptedSource(acts={"fetch": Gate()})) as app:
        answers = [calling("fetch", "fetch"), saying("{{results}}")]
        session_id = await started(app, agent(tmp_path, answers, "fetch", rules=PUT_OFF))
        original = await resumed(app, session_id)
        copy_id = (await app.sessions.fork(session_id)).session_id
        copy = await app.sessions.view(copy_id)
        assert is_session_id(copy_id)
        assert copy_id != session_id
        assert not {call.token for call in copy.pending} & {call.token for call in original.pending}
        assert {call.token for call in copy.record.pending} == {call.token for call in copy.pending}
        for call in copy.pending:
            await delivered(app, call.token, "to the copy")
        assert told(await resumed(app, copy_id)) == ["fetch: to the copy"] * 2
        assert len((await resumed(app, session_id)).pending) == 2
        for call in original.pending:
            await delivered(app, call.token, "to the original")
        assert told(await resumed(app, session_id)) == ["fetch: to the original"] * 2


async def test_a_copy_takes_nothing_that_was_delivered_to_its_original(tmp_path: Path) -> None:
    async with opened(ScriptedSource(acts={"fetch": Gate()})) as app:
        session_id = await started(app, agent(tmp_path, [calling("fetch")], "fetch", rules=PUT_OFF))
        await delivered(app, tokens(await resumed(app, session_id))["fetch"], "to the original")
        copy_id = (await app.sessions.fork(session_id)).session_id
        assert len((await resumed(app, copy_id)).pending) == 1


async def test_a_copy_is_at_rest_has_no_parent_and_goes_on_by_itself_only_when_told(tmp_path: Path) -> None:
    async with opened() as app:
        session_id = await started(app, agent(tmp_path, [saying("Hello.")]), auto=True)
        await resumed(app, session_id)
        copy = await app.sessions.view((await app.sessions.fork(session_id)).session_id)
    assert (copy.record.status, copy.record.answer) == ("answered", "Hello.")
    assert (copy.record.auto, copy.record.parent) == (False, None)


async def test_a_call_that_ran_is_made_again_in_the_copy_only_if_that_is_harmless(tmp_path: Path) -> None:
    """The original's process still holds both calls; nobody knows what becomes of the payment."""
    gate, stores = Gate("done"), open_stores("memory://")
    async with opened(ScriptedSource(acts={"look": gate, "pay": gate}), stores=stores) as app:
        tools = (tool("look", hints=READING), tool("pay"))
        made = agent(tmp_path, [calling("look", "pay"), saying("{{results}}")], *tools, max_concurrency=2)
        session_id = await started(app, made)
        await app.sessions.resume(session_id)
        await gate.entered.wait()
        copy = await app.sessions.view((await app.sessions.fork(session_id)).session_id)
        states = {call.name: call.state for call in copy.session.turns[-1].calls}  # type: ignore[union-attr]
        assert states == {"look": "ready", "pay": "in_doubt"}
        assert [call.name for call in copy.pending] == ["pay"]
        gate.opened.set()


@pytest.mark.parametrize("principal", ["ann", "local"])
async def test_there_is_no_copy_of_what_is_not_there_or_somebody_elses(tmp_path: Path, principal: str) -> None:
    async with opened() as app:
        session_id = await started(app, agent(tmp_path, [saying("Hello.")]))
        asked = session_id if principal == "ann" else SessionId("sess_nothing")
        with pytest.raises(SessionNotFound):
            await app.sessions.fork(asked, principal=principal)
