"""Calls that wait, of runs and of sessions: shown, answered, and refused to a model where a person decides."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.desk import APPROVE, asks, desk, tokens, waiting
from tests.wf_mcp.loops import ask_or
from tests.wf_mcp.operations.paying import CONTRACTS, PAY
from tests.wf_mcp.scripted import Gate, ScriptedSource, contents, opened, start
from wf_artifacts.errors import CallNotFound
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import (
    CallAlreadyCompleted,
    InvalidResult,
    PersonRequired,
    StateCorrupt,
    WrongAnswerKind,
)
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.execution.sessions.errors import CallAnswered, CallExpired
from wf_mcp.operations import summaries
from wf_mcp.operations.caller import LOCAL_MODEL, LOCAL_PERSON, Caller
from wf_mcp.operations.calls import MOST_SHOWN, approve_call, complete_call, fail_call, inspect_call, retry_call
from wf_mcp.operations.models import RunSummary
from wf_mcp.operations.pending import list_pending
from wf_mcp.operations.runs import inspect_run, resume_run
from wf_mcp.operations.session_models import SessionSummary
from wf_mcp.operations.sessions import inspect_session, resume_session
from wf_mcp.operations.traces import read_run_trace

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def doubted(stores: Stores) -> AsyncGenerator[tuple[App, str, ScriptedSource]]:
    """Give the token of a payment whose process ended while it was made, in the process after that."""
    gate = Gate()
    async with opened(ScriptedSource(acts={"pay": gate}, contracts=CONTRACTS), stores=stores) as app:
        handle = await start(app, PAY, {"amount": 12})
        with anyio.fail_after(5):
            await gate.entered.wait()
    source = ScriptedSource(acts={"pay": Gate({"receipt": "again"})}, contracts=CONTRACTS)
    async with opened(source, stores=stores) as app:
        with anyio.fail_after(5):
            seen = await inspect_run(app, run_id=handle.run_id, wait_seconds=5)
        yield app, seen.pending_calls[0].token, source


async def test_a_call_in_doubt_is_shown_with_its_arguments_and_when_it_began(stores: Stores) -> None:
    async with doubted(stores) as (app, token, source):
        call = await inspect_call(app, token=token)
        [item] = (await list_pending(app)).pending
    assert (call.capability, call.path, call.arguments) == ("ops.pay", ["pay"], {"amount": 12})
    assert item.call == call
    assert (item.type, item.since, item.next_action) == ("call", call.since, summaries.settle_action(call))
    assert source.calls == []


@pytest.mark.parametrize("tell", [partial(complete_call, result={"receipt": "r"}), fail_call, retry_call])
async def test_a_model_decides_nothing_about_a_call_in_doubt(
    tmp_path: Path, tell: Callable[..., Awaitable[RunSummary]]
) -> None:
    async with doubted(open_stores(tmp_path.as_uri())) as (app, token, source):
        before = contents(tmp_path)
        with pytest.raises(PersonRequired, match=f"wf calls show {token}"):
            await tell(app, token=token, caller=LOCAL_MODEL)
        assert contents(tmp_path) == before
    assert source.calls == []


async def test_a_call_that_was_carried_out_gives_its_result_and_is_not_made_again(stores: Stores) -> None:
    async with doubted(stores) as (app, token, source):
        ended = await complete_call(app, token=token, result={"receipt": "r-1"}, caller=LOCAL_PERSON)
        assert isinstance(ended, RunSummary)
        assert (ended.status, ended.output, ended.pending_calls) == ("completed", {"receipt": "r-1"}, [])
        with pytest.raises(CallAlreadyCompleted):
            await complete_call(app, token=token, result={"receipt": "r-2"}, caller=LOCAL_PERSON)
        with pytest.raises(CallAlreadyCompleted):
            await complete_call(app, token=token, result={"receipt": "r-2"}, caller=LOCAL_MODEL)
    assert source.calls == []


async def test_a_call_that_failed_fails_its_step_with_unknown_effects(stores: Stores) -> None:
    async with doubted(stores) as (app, token, source):
        ended = await fail_call(app, token=token, error="declined", caller=LOCAL_PERSON)
    assert isinstance(ended, RunSummary)
    assert ended.error is not None
    assert (ended.status, ended.error.message, ended.error.side_effects) == ("failed", "declined", "unknown")
    assert source.calls == []


async def test_a_call_that_may_be_repeated_is_made_once_more_with_the_same_key(stores: Stores) -> None:
    async with doubted(stores) as (app, token, source):
        gate = source.acts["pay"]
        assert isinstance(gate, Gate)
        gate.opened.set()
        ended = await retry_call(app, token=token, caller=LOCAL_PERSON)
    assert isinstance(ended, RunSummary)
    assert (ended.status, ended.output) == ("completed", {"receipt": "again"})
    [(_, given, context)] = source.calls
    assert (given, context.attempt) == ({"amount": 12}, 2)


async def test_the_trace_says_that_a_person_decided(stores: Stores) -> None:
    async with doubted(stores) as (app, token, _):
        await complete_call(app, token=token, result={"receipt": "r-1"}, caller=LOCAL_PERSON)
        [run] = (await app.stores.runs.list_runs(principal=None, limit=2)).items
        [entry] = (await read_run_trace(app, run_id=run.run_id)).entries
    assert entry.settled is not None
    assert (entry.outcome, entry.settled.by, entry.settled.kind) == ("ok", "person", "completed")


async def test_a_result_that_the_capability_cannot_have_given_changes_nothing(tmp_path: Path) -> None:
    async with doubted(open_stores(tmp_path.as_uri())) as (app, token, _):
        before = contents(tmp_path)
        with pytest.raises(InvalidResult):
            await complete_call(app, token=token, result={}, caller=LOCAL_PERSON)
        for outcome in ("maybe", ""):
            with pytest.raises(InvalidResult):
                await complete_call(app, token=token, result={"receipt": "r"}, outcome=outcome, caller=LOCAL_PERSON)
        assert contents(tmp_path) == before


async def test_tokens_that_name_no_call_in_doubt_are_not_found(stores: Stores) -> None:
    async with doubted(stores) as (app, token, _):
        other = "call_" + "0" * 36 + "_c1"
        for unknown in ("", "call_x_c1", other, token.replace("_c1", "_c9"), token.replace("_c1", "_c0"), f"{token} "):
            with pytest.raises(CallNotFound):
                await complete_call(app, token=unknown, result={}, caller=LOCAL_PERSON)
        with pytest.raises(CallNotFound):
            await inspect_call(app, token=token, caller=Caller(principal="somebody else", person=True))


async def test_a_question_is_answered_beside_a_call_in_doubt(stores: Stores) -> None:
    """One item of the run asks, another was in the middle of its call."""
    gate = Gate()
    async with opened(ScriptedSource(acts={"pay": gate}), stores=stores) as app:
        handle = await start(app, ask_or("ops.pay"), {"items": ["ask", "pay"]})
        with anyio.fail_after(5):
            await gate.entered.wait()
    async with opened(ScriptedSource(acts={"pay": gate}), stores=stores) as app:
        seen = await inspect_run(app, run_id=handle.run_id, wait_seconds=5)
        assert (seen.status, seen.resume_readiness) == ("interrupted", "ready")
        assert [item.type for item in (await list_pending(app)).pending] == ["interrupt", "call"]
        first = await list_pending(app, limit=1)
        rest = await list_pending(app, limit=1, cursor=first.next_cursor)
        assert [item.type for item in (*first.pending, *rest.pending)] == ["interrupt", "call"]
        assert [item.type for item in (await list_pending(app, only="call")).pending] == ["call"]
        answered = await resume_run(app, run_id=handle.run_id)
        assert (answered.status, answered.resume_readiness, answered.interrupts) == ("interrupted", "blocked", [])
        ended = await complete_call(app, token=seen.pending_calls[0].token, result={}, caller=LOCAL_PERSON)
    assert ended.status == "completed"


async def given(app: App, told: SessionSummary) -> list[object]:
    """Let a session go on, and say which results its model got, in call order."""
    await resume_session(app, session_id=str(told.session_id))
    turns = (await inspect_session(app, session_id=str(told.session_id))).conversation
    return [result["result"] for turn in turns if turn.results for result in turn.results]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("done", {"type": "text", "content": "done"}),
        ("", {"type": "text", "content": ""}),
        ({"type": "text", "content": "x"}, {"type": "text", "content": "x"}),
        ('{"type": "text", "content": "x"}', {"type": "text", "content": "x"}),
        ({"type": "json", "content": {"a": [1]}}, {"type": "json", "content": {"a": [1]}}),
        (
            {"type": "media", "mimeType": "image/png", "base64Data": "AAAA"},
            {"type": "media", "mime_type": "image/png", "base64_data": "AAAA"},
        ),
        (
            {"type": "mixed", "parts": [{"type": "text", "content": "x"}]},
            {"type": "mixed", "parts": [{"type": "text", "content": "x"}]},
        ),
        ({"type": "text", "content": "no", "error": True}, {"type": "text", "content": "no", "error": True}),
        ({"ok": 1}, {"type": "text", "content": '{"ok":1}'}),
        (None, {"type": "text", "content": "null"}),
        ({"type": "text"}, {"type": "text", "content": '{"type":"text"}'}),
    ],
)
async def test_what_the_outside_delivers_is_one_of_the_forms_or_else_text(
    tmp_path: Path, result: object, told: object
) -> None:
    async with desk(tmp_path, [asks("remote_a"), {"text": "Done."}]).open() as app:
        session = await waiting(app)
        await complete_call(app, token=tokens(session)["remote_a"], result=result)
        assert await given(app, session) == [told]


@pytest.mark.parametrize("result", [float("nan"), {"a": [float("inf")]}, "\ud800", {1: 2}, {"x": {3, 4}}, b"x"])
async def test_a_result_that_is_no_json_changes_nothing(tmp_path: Path, result: object) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        stored = contents(tmp_path / "home")
        with pytest.raises(InvalidArgument, match="result"):
            await complete_call(app, token=tokens(told)["remote_a"], result=result)
        assert contents(tmp_path / "home") == stored


async def test_a_result_beyond_the_bound_is_too_large(tmp_path: Path) -> None:
    async with desk(tmp_path, config={"max_bytes": 2000}).open() as app:
        told = await waiting(app)
        with pytest.raises(TooLarge):
            await complete_call(app, token=tokens(told)["remote_a"], result="x" * 2000)
        with pytest.raises(TooLarge):
            await fail_call(app, token=tokens(told)["remote_a"], error="x" * 2000)
        assert len((await complete_call(app, token=tokens(told)["remote_a"], result="x" * 1900)).pending_calls) == 1


async def test_the_first_answer_to_a_call_of_a_session_stays(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("remote_a"), {"text": "{{results}}"}]).open() as app:
        told = await waiting(app)
        token = tokens(told)["remote_a"]
        await complete_call(app, token=token, result="first")
        for late in (partial(complete_call, result="second"), fail_call):
            with pytest.raises(CallAnswered):
                await late(app, token=token)
        with pytest.raises(CallAlreadyCompleted):
            await inspect_call(app, token=token)
        assert await given(app, told) == [{"type": "text", "content": "first"}]
        with pytest.raises(CallAnswered):
            await complete_call(app, token=token, result="third")


async def test_a_call_of_a_session_does_not_succeed_with_the_outcome_of_a_failure(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("remote_a"), {"text": "{{results}}"}]).open() as app:
        told = await waiting(app)
        token = tokens(told)["remote_a"]
        with pytest.raises(InvalidArgument, match="no outcome 'error'"):
            await complete_call(app, token=token, result={"message": "declined"}, outcome="error")
        await complete_call(app, token=token, result="done", outcome="ok")
        assert await given(app, told) == [{"type": "text", "content": "done"}]


async def test_who_answers_a_session_that_cannot_be_read_hears_that_the_answer_is_stored(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        token = tokens(told)["remote_a"]
    (tmp_path / "home" / "sessions" / str(told.session_id) / "events.jsonl").write_bytes(b"")
    async with desk(tmp_path).open() as app:
        with pytest.raises(StateCorrupt) as damaged:
            await complete_call(app, token=token, result="done")
        assert (damaged.value.hint or "").startswith("What was said of the call is stored.")
        with pytest.raises(CallAnswered):
            await complete_call(app, token=token, result="again")


async def test_a_call_whose_time_has_come_takes_no_answer(tmp_path: Path) -> None:
    expiring = {"remote_a": {"tag": "defer", "reason": "soon", "expiresSeconds": 0.001}}
    async with desk(tmp_path, [asks("remote_a"), {"text": "Too late."}], expiring).open() as app:
        told = await waiting(app)
        kept = await app.stores.continuations.of_session(str(told.session_id), now=app.clock.now())
        with pytest.raises(CallExpired):
            await complete_call(app, token=kept[0].token, result="late")
        [result] = await given(app, told)
    assert isinstance(result, dict)
    assert result["error"]


@pytest.mark.parametrize(
    "token", ["", "x", "call_", "call_x", "CALL_" + "0" * 26, "call_" + "0" * 26, "call_" + "0" * 5000, "call_\ud800",
              "call_../../x", "sess_" + "0" * 26, "call_" + "0" * 26 + " "]
)  # fmt: skip
async def test_what_can_be_no_token_is_not_found(tmp_path: Path, token: str) -> None:
    async with desk(tmp_path).open() as app:
        await waiting(app)
        stored = contents(tmp_path / "home")
        for ask in (inspect_call, fail_call, retry_call, approve_call, partial(complete_call, result="x")):
            with pytest.raises(CallNotFound):
                await ask(app, token=token, caller=LOCAL_PERSON)
        assert contents(tmp_path / "home") == stored


async def test_an_approval_is_a_persons_alone_and_no_result(tmp_path: Path) -> None:
    """A result for an approval would be an approval forged through the result door."""
    work = desk(tmp_path, [asks(("pay", {"amount": 5})), {"text": "{{results}}"}], {"pay": APPROVE})
    async with work.open() as app:
        told = await waiting(app)
        token = tokens(told)["pay"]
        for caller in (LOCAL_MODEL, LOCAL_PERSON):
            with pytest.raises(WrongAnswerKind):
                await complete_call(app, token=token, result={"receipt": "forged"}, caller=caller)
        for ask in (approve_call, fail_call):
            with pytest.raises(PersonRequired):
                await ask(app, token=token, caller=LOCAL_MODEL)
        assert work.made == []
        await approve_call(app, token=token, caller=LOCAL_PERSON)
        assert work.made == []  # only when the session goes on
        assert await given(app, told) == [{"type": "json", "content": {"receipt": "r-1"}}]
        assert work.made == ["pay 5"]
        with pytest.raises(CallAnswered):
            await approve_call(app, token=token, caller=LOCAL_PERSON)


async def test_a_refused_approval_is_told_to_the_model_and_nothing_is_carried_out(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks(("pay", {"amount": 5})), {"text": "{{results}}"}], {"pay": APPROVE})
    async with work.open() as app:
        told = await waiting(app)
        await fail_call(app, token=tokens(told)["pay"], caller=LOCAL_PERSON)
        [result] = await given(app, told)
    assert result == {"type": "text", "content": "It failed, or was refused; no reason was given.", "error": True}
    assert work.made == []


async def test_a_call_that_waits_for_its_result_is_neither_approved_nor_made_again(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        for ask in (approve_call, retry_call):
            with pytest.raises(WrongAnswerKind):
                await ask(app, token=tokens(told)["remote_a"], caller=LOCAL_PERSON)


async def test_a_waiting_call_of_a_session_is_shown(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told = await waiting(app)
        assert await inspect_call(app, token=tokens(told)["remote_b"]) == told.pending_calls[1]
        with pytest.raises(CallNotFound):
            await inspect_call(app, token=tokens(told)["remote_b"], caller=Caller(principal="ann"))


async def test_of_many_calls_that_wait_the_first_are_told_where_one_is_answered(tmp_path: Path) -> None:
    """What a delivery costs does not grow with the calls that wait."""
    many = [("remote_a", {"topic": str(number)}) for number in range(MOST_SHOWN + 5)]
    async with desk(tmp_path, [asks(*many)]).open() as app:
        calls = (await waiting(app)).pending_calls
        assert len(calls) == MOST_SHOWN + 5
        told = await complete_call(app, token=calls[1].token, result="x")
        assert isinstance(told, SessionSummary)
        assert told.pending_calls == [calls[0], *calls[2 : MOST_SHOWN + 1]]
        assert [one.code for one in told.diagnostics] == ["shortened"]
        whole = await inspect_session(app, session_id=told.session_id or "")
        assert (whole.pending_calls, whole.diagnostics) == ([calls[0], *calls[2:]], [])
