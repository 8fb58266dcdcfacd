"""What an event does, and which events are refused where they stand: replay allows no more than transitions do."""

from typing import Any

import pytest

from tests.wf_core.conversations import call, start
from wf_core.calls.policy import AppliedPolicy, RunSync, ToolCall
from wf_core.calls.results import text_result
from wf_core.codec.sessions import dump_session
from wf_core.errors import IllegalTransition, SessionRefused, WrongAnswerKind
from wf_core.sessions import Approved, Delivered, Session, Usage, answer, begin, defer
from wf_core.sessions.applying import apply, take_over
from wf_core.sessions.events import (
    Answered,
    AskedCall,
    Begun,
    Completed,
    Deferred,
    Expired,
    Forked,
    Held,
    Released,
    Said,
    Started,
    TakenOver,
    Woken,
)

PLAIN = AppliedPolicy(RunSync(), "default")
DONE = text_result("done")


def asked(name: str = "write", provider_call_id: str = "x", capability: str = "ops.write", **more: Any) -> AskedCall:
    return AskedCall(ToolCall(name, {}, provider_call_id, capability), PLAIN, more.get("fault"))


def opened() -> Session:
    """Give a session with a call deferred, one for approval, one running and one ready."""
    session = start()
    answer(session, "", [call("remote", "a"), call("pay", "b"), call("write", "c"), call("write", "d")])
    defer(session, "t2.0")
    defer(session, "t2.1")
    begin(session, ["t2.2"])
    return session


REFUSED_BEFORE_AN_ANSWER = {
    "a second start": Started(None, ()),
    "a fork of what is there": Forked("sess_0", start()),
    "a hold": Held(),
    "a call without an id": Answered("", (asked(provider_call_id=""),), Usage()),
    "an id twice": Answered("", (asked(), asked()), Usage()),
    "a tool that is pinned to another capability": Answered("", (asked(capability="ops.count"),), Usage()),
    "a tool that there is not": Answered("", (asked("nothing", capability=""),), Usage()),
    "a beginning": Begun(("t2.0",)),
}

REFUSED_WITH_OPEN_CALLS = {
    "an answer": Answered("", (), Usage()),
    "words that join nothing": Said("Hi", (), joins=True),
    "a hold": Held(),
    "nothing to begin": Begun(()),
    "a beginning twice": Begun(("t2.3", "t2.3")),
    "one of two that cannot begin": Begun(("t2.3", "t2.2")),
    "a result of an unknown call": Completed("t2.9", DONE),
    "a result for an approval": Completed("t2.1", DONE),
    "a deferral of what runs": Deferred("t2.2", "call_x", None),
    "a deferral without a token": Deferred("t2.3", "", None),
    "a release of what runs": Released("t2.2"),
    "an expiry of what is ready": Expired("t2.3"),
    "nothing delivered": Woken(()),
    "a delivery twice": Woken((("t2.0", Delivered(DONE)), ("t2.0", Delivered(DONE)))),
    "a delivery to what runs": Woken((("t2.2", Delivered(DONE)),)),
    "a delivery of the wrong kind": Woken((("t2.0", Delivered(DONE)), ("t2.1", Delivered(DONE)))),
    "an approval for a result": Woken((("t2.1", Approved()), ("t2.0", Approved()))),
}


def refuses(session: Session, event: Any) -> None:
    before = dump_session(session)
    with pytest.raises(SessionRefused):
        apply(session, event)
    assert dump_session(session) == before


@pytest.mark.parametrize("case", REFUSED_BEFORE_AN_ANSWER)
def test_what_cannot_follow_the_start_changes_nothing(case: str) -> None:
    refuses(start(), REFUSED_BEFORE_AN_ANSWER[case])


@pytest.mark.parametrize("case", REFUSED_WITH_OPEN_CALLS)
def test_what_open_calls_do_not_allow_changes_nothing(case: str) -> None:
    refuses(opened(), REFUSED_WITH_OPEN_CALLS[case])


@pytest.mark.parametrize("event", [Said("Hi", (), joins=False), Held(), TakenOver(), Begun(("t2.0",))])
def test_nothing_comes_before_the_start(event: Any) -> None:
    session = Session("sess_1", "s", start().agent)
    with pytest.raises(IllegalTransition, match="first of all"):
        apply(session, event)
    assert session == Session("sess_1", "s", start().agent)


def test_every_event_counts_once() -> None:
    session = opened()
    at = session.position
    apply(session, Woken((("t2.0", Delivered(DONE)), ("t2.1", Approved()))))
    apply(session, TakenOver())
    assert session.position == at + 2


def test_the_kind_of_a_refusal_says_what_is_wrong() -> None:
    with pytest.raises(WrongAnswerKind):
        apply(opened(), Woken((("t2.1", Delivered(DONE)),)))


def test_taking_over_touches_nothing_but_what_ran() -> None:
    session = opened()
    take_over(session)
    assert [one.state for one in session.turns[-1].calls] == ["deferred", "deferred", "in_doubt", "ready"]  # type: ignore[union-attr]
