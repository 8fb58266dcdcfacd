"""How a session is told, and what can be done next."""

from pathlib import Path
from typing import Any, Literal

import pytest

from tests.wf_mcp.desk import APPROVE, asks, desk, tokens, waiting
from tests.wf_mcp.execution.sessions.workplace import agent, calling, delivered, resumed, saying, started
from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, opened
from wf_artifacts.stores import open_stores
from wf_core.validation import Issue
from wf_mcp.operations import session_summaries as summaries
from wf_mcp.operations.calls import complete_call
from wf_mcp.operations.models import PendingCall
from wf_mcp.operations.session_summaries import MOST_ACTIONS, answer_action, row, summary, unrunnable
from wf_mcp.operations.sessions import inspect_session, resume_session, start_session

pytestmark = pytest.mark.anyio


async def test_a_session_that_answered_while_a_call_is_in_doubt_says_who_may_tell(tmp_path: Path) -> None:
    stores, gate = open_stores("memory://"), Gate()
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app:
        session = await started(app, agent(tmp_path, [calling("hold"), *[saying("Done.")] * 2], "hold"))
        await app.sessions.resume(session)
        await gate.entered.wait()
    async with opened(ScriptedSource(acts={"hold": echo}), stores=stores) as app:
        told = await summaries.detail(app, await resumed(app, session))
        (call,) = told.pending_calls
        assert (told.status, told.answer, call.state) == ("answered", "Done.", "in_doubt")
        doubt, say = told.next_actions
        assert f"wf calls complete {call.token}" in doubt
        assert "prompt=" in say
        await delivered(app, call.token, "it did")
        told = await summaries.detail(app, await app.sessions.view(session))
        assert told.pending_calls == []
        assert told.next_actions[0] == f'resume_session(session_id="{session}") takes what was told'
        last = await summaries.detail(app, await resumed(app, session))
    assert (last.status, last.turns, len(last.next_actions)) == ("answered", 6, 1)


async def test_each_status_says_what_can_be_done_next(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        ready = await start_session(app, agent="helper", prompt="Go.")
        name = f'session_id="{ready.session_id}"'
        assert ready.next_actions == [f"resume_session({name})"]
        told = await resume_session(app, session_id=str(ready.session_id))
        a, b = (f'complete_call(token="{token}", result=<what {tool} gave>)' for tool, token in tokens(told).items())
        assert told.next_actions == [a, b, f"then resume_session({name})"]
        left = None
        for token in tokens(told).values():
            left = await complete_call(app, token=token, result="there")
        assert left is not None
        assert (left.status, left.next_actions, left.pending_calls) == ("waiting", [f"resume_session({name})"], [])
        ended = await resume_session(app, session_id=str(ready.session_id))
        assert ended.next_actions == [f"resume_session({name}, prompt=<what the user says next>)"]


async def test_only_so_many_calls_are_explained(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks(*["remote_a"] * 9)]).open() as app:
        told = await waiting(app)
    assert (len(told.pending_calls), len(told.next_actions)) == (9, MOST_ACTIONS + 1)


@pytest.mark.parametrize(
    ("awaits", "said"),
    [
        ("approval", "wf session approve call_x"),
        ("in_doubt", "wf calls retry call_x"),
        ("isolated", 'run_isolated(session_id="sess_1")'),
        ("callee", "goes on elsewhere"),
        ("deferred", 'complete_call(token="call_x"'),
    ],
)
def test_every_kind_of_call_says_who_answers_it_and_how(
    awaits: Literal["approval", "in_doubt", "isolated", "callee", "deferred"], said: str
) -> None:
    call = PendingCall(
        token="call_x", state="deferred", session_id="sess_1", call_id="t2.0", name="pay", capability="ops.pay",
        arguments={}, awaits=awaits, reason="why", since="2026-11-30T10:00:00.000Z",
    )  # fmt: skip
    assert said in answer_action(call)


async def test_a_waiting_call_says_why_it_waits_and_until_when(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"pay": {**APPROVE, "expiresSeconds": 60}}
    async with desk(tmp_path, [asks(("pay", {"amount": 5}))], rules).open() as app:
        [call] = (await waiting(app)).pending_calls
    assert (call.state, call.awaits, call.reason, call.arguments) == (
        "deferred",
        "approval",
        "costs money",
        {"amount": 5},
    )
    assert (call.capability, call.call_id) == ("ops.pay", "t2.0")
    assert call.disposition is not None
    assert call.disposition["tag"] == "defer"
    assert call.expires_at is not None
    assert call.expires_at > call.since


async def test_long_arguments_are_shortened_where_they_are_shown(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks(("remote_a", {"topic": "x" * 10_000}))]).open() as app:
        [call] = (await waiting(app)).pending_calls
    assert call.arguments["topic"]["$truncated"]


async def test_a_summary_is_a_session_without_its_conversation_and_a_row_is_one_line_of_it(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        shown = await inspect_session(app, session_id=str(told.session_id))
        record = await app.stores.sessions.load_record(shown.session_id)  # type: ignore[arg-type]
    assert summary(shown) == told
    assert (row(record).pending, row(record).status, row(record).error_code) == (2, "waiting", None)


async def test_what_the_model_cost_is_summed_up(tmp_path: Path) -> None:
    usage = {"usage": {"inputTokens": 10, "outputTokens": 3}}
    async with desk(tmp_path, [asks("local") | usage, {"text": "Done."} | usage]).open() as app:
        told = await waiting(app)
    assert told.usage is not None
    assert (told.usage.input_tokens, told.usage.output_tokens) == (20, 6)


def test_an_agent_that_cannot_run_is_told_with_every_reason() -> None:
    told = unrunnable("helper", [Issue("error", "capability_not_found", "", "gone")])
    assert (told.session_id, told.status, told.turns, told.diagnostics[0].code) == (
        None, "unrunnable", 0, "capability_not_found",
    )  # fmt: skip


async def test_a_session_whose_model_is_being_asked_is_running_for_everybody(tmp_path: Path) -> None:
    """Asking the model stores nothing, so its record says `ready` meanwhile."""
    work = desk(tmp_path, [{"text": "Done.", "delayMilliseconds": 300}])
    async with work.open() as app, work.open() as other:
        session_id = str((await start_session(app, agent="helper", prompt="Go.")).session_id)
        told = await resume_session(app, session_id=session_id, wait_seconds=0)
        seen = await inspect_session(other, session_id=session_id)
        assert (told.status, seen.status) == ("running", "running")
        assert told.next_actions == [f'inspect_session(session_id="{session_id}", wait_seconds=25)']
        assert (await inspect_session(other, session_id=session_id, wait_seconds=20)).status == "answered"
