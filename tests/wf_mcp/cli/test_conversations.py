"""Sessions as people want to see them."""

from typing import Any

import pytest
from rich.console import Console, RenderableType

from wf_mcp.cli import conversations
from wf_mcp.operations.models import PendingCall, PendingItem, PendingList
from wf_mcp.operations.session_models import SessionDetail, SessionErrorView, SessionSummary, TurnView

CALL = PendingCall(
    token="call_A", state="deferred", session_id="sess_1", call_id="t2.1", name="fetch", capability="web.fetch",
    arguments={"topic": "bread"}, awaits="deferred", disposition={"tag": "defer"}, reason="external worker",
    since="2026-11-30T10:00:00.000Z",
)  # fmt: skip
TOLD = SessionSummary(session_id="sess_1", status="waiting", agent="helper", turns=3, pending_calls=[CALL])
PARTIAL = TurnView(
    id="t2",
    by="user",
    calls=[
        {"call_id": "t2.0", "name": "look", "arguments": {}, "state": "completed",
         "result": {"type": "json", "content": {"found": [1]}}},
        {"call_id": "t2.1", "name": "fetch", "arguments": {}, "state": "deferred", "result": None},
        {"call_id": "t2.2", "name": "late", "arguments": {}, "state": "deferred", "result": None},
        {"call_id": "t2.3", "name": "gone", "arguments": {}, "state": "expired", "result": None},
        {"call_id": "t2.4", "name": "next", "arguments": {}, "state": "ready", "result": None},
        {"call_id": "t2.5", "name": "bad", "arguments": {}, "state": "failed",
         "result": {"type": "text", "content": "it\nbroke", "error": True}},
    ],
)  # fmt: skip


def printed(picture: RenderableType, width: int = 120) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(picture)
    return captured.get()


def lines(picture: RenderableType) -> list[str]:
    return [" ".join(line.split()) for line in printed(picture).splitlines()]


def waiting(**changes: Any) -> PendingCall:
    return CALL.model_copy(update=changes)


def test_each_call_of_a_turn_says_what_became_of_it() -> None:
    assert lines(conversations.done(PARTIAL, {"t2.1": CALL})) == [
        "its calls",
        '✓ look {"found":[1]}',
        "… fetch its result from outside (external worker)",
        "call_A",
        "· late answered; taken when the session goes on",
        "✗ gone nobody answered it in time",
        "· next ready",
        "✗ bad it broke",
    ]


def test_calls_that_have_only_been_asked_for_are_shown_once() -> None:
    asked = TurnView(id="t1", by="model", text="Let me see.", calls=[{"name": "fetch", "arguments": {"topic": "x"}}])
    ready = TurnView(
        id="t2",
        by="user",
        calls=[{"call_id": "t2.0", "name": "fetch", "arguments": {}, "state": "ready", "result": None}],
    )
    told = TOLD.model_copy(update={"status": "ready", "pending_calls": []})
    assert lines(conversations.advanced(told, [asked, ready])) == [
        "the model says", "Let me see.", "the model asks for", '→ fetch {"topic": "x"}',
        "ready wf session step sess_1 takes one step, wf session resume sess_1 goes on",
    ]  # fmt: skip


def test_what_the_model_is_given_comes_in_call_order_and_notices_after_it() -> None:
    turn = TurnView(
        id="t2",
        by="user",
        text="And?",
        results=[{"name": name, "result": {"type": "text", "content": name}} for name in ("b", "a")],
        notices=[{"name": "c", "result": {"type": "text", "content": "late"}}],
    )
    assert lines(conversations.done(turn, {})) == [
        "the user says", "And?", "the model is given", "✓ b b", "✓ a a", "and learns of earlier calls", "✓ c late",
    ]  # fmt: skip


def test_how_calls_are_answered_is_said_once_for_all_of_a_kind() -> None:
    other = waiting(token="call_B", call_id="t2.2")
    said = printed(conversations.advanced(TOLD.model_copy(update={"pending_calls": [CALL, other]}), [PARTIAL]))
    assert [said.count(words) for words in ("call_A", "call_B", "wf session complete TOKEN FILE")] == [1, 1, 1]


def test_a_call_that_waits_since_an_earlier_turn_is_shown_too() -> None:
    doubtful = waiting(state="in_doubt", awaits="in_doubt", call_id="t0.0", token="call_D")
    said = printed(conversations.advanced(TOLD.model_copy(update={"pending_calls": [doubtful]}), []))
    assert "wf calls retry call_D" in said
    assert "in doubt" in said


def test_the_answer_is_shown_whole_and_as_it_is() -> None:
    told = SessionSummary(session_id="s", status="answered", agent="a", answer="[bold]x[/bold] " + "y" * 3000)
    said = printed(conversations.advanced(told, [TurnView(id="t1", by="model", text="[bold]x…")]))
    assert said.count("y") == 3000
    assert "[bold]x[/bold]" in said


def test_what_is_said_to_a_session_that_waits_is_shown() -> None:
    told = TOLD.model_copy(update={"queued_prompts": ["And be quick."]})
    assert "the user says next: And be quick." in lines(conversations.summary(told))
    assert "the user says next: And be quick." in lines(conversations.advanced(told, []))


def test_what_went_wrong_is_said() -> None:
    told = TOLD.model_copy(update={"error": SessionErrorView(code="model_unavailable", message="try later")})
    assert "wait for it" in printed(
        conversations.summary(
            told.model_copy(update={"error": SessionErrorView(code="x", message="y", hint="wait for it")})
        )
    )
    assert "model_unavailable: try later" in printed(conversations.advanced(told, []))
    assert "model_unavailable: try later" in printed(conversations.summary(told))


@pytest.mark.parametrize(
    ("awaits", "what", "how"),
    [
        ("deferred", "its result from outside", "wf session complete call_A FILE"),
        ("approval", "a person's approval", "wf session approve call_A"),
        ("in_doubt", "in doubt: a person says", "wf calls retry call_A"),
        ("isolated", "its sandbox", "wf session run-isolated sess_1"),
        ("callee", "what it started", "wf session resume sess_1"),
    ],
)
def test_every_kind_of_call_says_what_it_waits_for_and_how_it_is_answered(awaits: str, what: str, how: str) -> None:
    shown = waiting(awaits=awaits, state="in_doubt" if awaits == "in_doubt" else "deferred")
    said = printed(conversations.call(shown))
    assert what in said
    assert how in said
    assert "web.fetch" in said
    assert what in printed(conversations.awaited(shown))


def test_a_call_that_has_no_runner_says_so_and_is_not_sent_to_one() -> None:
    waits = waiting(awaits="isolated", reason="no runner")
    assert "a runner: neither its agent nor its policy says where" in printed(conversations.call(waits))
    assert conversations.answers(waits) == ["wf session complete call_A FILE", "wf session fail call_A"]


def test_calls_are_listed_with_the_disposition_that_put_them_off() -> None:
    decorated = waiting(disposition={"tag": "decorate", "inner": {"tag": "defer"}}, name="wrapped")
    doubtful = waiting(state="in_doubt", name="paid")
    isolated = waiting(disposition={"tag": "runIsolated", "spec": {}}, reason=None, name="boxed")
    items = [
        PendingItem(session_id="sess_1", agent="helper", type="call", since=call.since, call=call, next_action="x")
        for call in (CALL, decorated, doubtful, isolated)
    ]
    said = printed(conversations.pending(PendingList(pending=items, next_cursor=None)), width=160)
    for words in ("defer: external worker", '"tag": "decorate"', "in doubt", "runIsolated", "t2.1", "fetch", "call_A"):
        assert words in said


def test_a_session_is_shown_with_its_conversation() -> None:
    told = SessionDetail(**TOLD.model_dump(), conversation=[TurnView(id="t0", by="user", text="Go."), PARTIAL])
    said = printed(conversations.detail(told))
    assert said.index("Go.") < said.index("fetch (deferred)") < said.index("sess_1")
