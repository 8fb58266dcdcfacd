"""Sessions that are ended although they have not come to an end: they wait for nobody, and what they did stays."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    agent,
    calling,
    delivered,
    resumed,
    saying,
    started,
    stepped,
    tokens,
    told,
)
from tests.wf_mcp.scripted import Gate, ScriptedSource, opened
from wf_core.ids import SessionId
from wf_core.sessions import check_history
from wf_mcp.app import App
from wf_mcp.execution.sessions.ending import MAY_HAVE_HAPPENED
from wf_mcp.execution.sessions.errors import CallAnswered

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}
APPROVAL: dict[str, Any] = {**LATER, "approval": True}
WHY = {"code": "cancelled", "message": "Nobody wants it."}


async def open_tokens(app: App) -> list[str]:
    page = await app.stores.continuations.list_open(principal=None, now=app.clock.now(), limit=10)
    return [waiting.token for waiting in page.items]


async def ended(app: App, session_id: SessionId) -> None:
    """End a session, and hold that it is over and waits for nobody."""
    await app.sessions.end(session_id, WHY)
    view = await app.sessions.view(session_id)
    assert (view.record.status, view.record.error, view.record.auto) == ("failed", WHY, False)
    assert (view.record.pending, await open_tokens(app)) == ((), [])
    check_history(view.session.turns)


async def test_every_call_that_waits_is_given_up_and_takes_no_answer_any_more(tmp_path: Path) -> None:
    answers = [calling("fetch", "pay"), saying("{{results}}")]
    snapshot = agent(tmp_path, answers, "fetch", "pay", rules={"fetch": LATER, "pay": APPROVAL})
    async with opened(ScriptedSource(acts={"fetch": Gate(), "pay": Gate()})) as app:
        session_id = await started(app, snapshot, auto=True)
        waiting = tokens(await resumed(app, session_id))
        await ended(app, session_id)
        for token in waiting.values():
            with pytest.raises(CallAnswered):
                await delivered(app, token, {"type": "text", "content": "late", "error": True})
        view = await app.sessions.view(session_id)
        assert told(view, -1) == [
            "fetch: The call was given up. Nobody wants it.",
            "pay: The call was given up. Nobody wants it.",
        ]
        before = view.record
        await app.sessions.end(session_id, {"code": "cancelled", "message": "Again."})
        assert (await app.sessions.view(session_id)).record == before
        assert (await resumed(app, session_id, prompt="Go on.")).record.status == "answered"


async def test_a_call_in_flight_is_told_to_stop_and_the_model_that_it_may_have_happened(tmp_path: Path) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"pay": gate})) as app:
        session_id = await started(app, agent(tmp_path, [calling("pay"), saying("{{results}}")], "pay"))
        handle = await app.sessions.resume(session_id)
        with anyio.fail_after(5):
            await gate.entered.wait()
            await ended(app, session_id)
            await gate.cancelled.wait()
            await app.sessions.wait(handle)
        assert MAY_HAVE_HAPPENED in told(await app.sessions.view(session_id), -1)[0]


async def test_a_session_whose_model_has_not_been_asked_ends_too(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session_id = await started(app, agent(tmp_path, [calling("echo"), saying("Done.")], "echo"))
        await ended(app, session_id)
        other = await started(app, agent(tmp_path, [calling("echo"), saying("Done.")], "echo"))
        await stepped(app, other)
        await ended(app, other)


async def test_what_was_delivered_before_stays_and_an_own_end_counts(tmp_path: Path) -> None:
    async with opened(ScriptedSource(acts={"fetch": Gate()})) as app:
        answers = [calling("fetch", "fetch"), saying("Done.")]
        session_id = await started(app, agent(tmp_path, answers, "fetch", rules={"fetch": LATER}))
        first, second = (await resumed(app, session_id)).pending
        await delivered(app, first.token, "there")
        await ended(app, session_id)
        assert told(await app.sessions.view(session_id), -1) == [
            "fetch: there",
            "fetch: The call was given up. Nobody wants it.",
        ]
        answered = await started(app, agent(tmp_path, [saying("Done.")]))
        before = (await resumed(app, answered)).record
        await app.sessions.end(answered, WHY)
        assert (await app.sessions.view(answered)).record == before
        assert second.token not in await open_tokens(app)


async def test_a_call_that_was_cut_off_is_given_up_as_one_that_may_have_happened(tmp_path: Path) -> None:
    gate = Gate()
    snapshot = agent(tmp_path, [calling("pay"), saying("{{results}}")], "pay")
    async with opened(ScriptedSource(acts={"pay": gate})) as app:
        session_id = await started(app, snapshot)
        await app.sessions.resume(session_id)
        with anyio.fail_after(5):
            await gate.entered.wait()
        kept = app.stores
    async with opened(ScriptedSource(acts={"pay": Gate()}), stores=kept) as app:
        await ended(app, session_id)
        assert MAY_HAVE_HAPPENED in told(await app.sessions.view(session_id), -1)[0]
