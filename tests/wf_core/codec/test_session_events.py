"""Every event is read as it was written."""

import pytest

from tests.wf_core.codec.conversation import DECORATED, MIXED, everything, forked
from tests.wf_core.conversations import start
from wf_core.calls.policy import AppliedPolicy, Defer, RunSync, ToolCall
from wf_core.codec.session_events import read_event
from wf_core.errors import StateCorrupt
from wf_core.jsonvalue import dumps
from wf_core.sessions import Approved, Attachment, Delivered, Retried, SessionHeader, Usage
from wf_core.sessions.events import (
    Answered,
    AskedCall,
    Begun,
    Completed,
    Deferred,
    Doubted,
    Event,
    Expired,
    Held,
    Released,
    Said,
    Started,
    TakenOver,
    Woken,
    event_to_json,
)

HEADER = SessionHeader("sess_1", "s", start().agent)
FILES = (Attachment("image/png", "AAAA", "chart.png"), Attachment("text/plain", "", None))

EVENTS: dict[str, Event] = {
    "started": Started("Hi", FILES),
    "started without words": Started(None, ()),
    "said": Said("é𝄞\u0000", FILES, joins=True),
    "answered": Answered(
        "Yes.",
        (
            AskedCall(ToolCall("a", {"n": 10**30}, "x", "ops.a"), AppliedPolicy(DECORATED, "rule"), None),
            AskedCall(ToolCall("", "no object", "y", ""), AppliedPolicy(RunSync(), "none"), "There is no such tool."),
            AskedCall(ToolCall("b", {}, "z", "b.b"), AppliedPolicy(Defer("", approval=True), "default"), None),
        ),
        Usage(3, 4),
    ),
    "begun": Begun(("t2.0", "t2.1")),
    "completed": Completed("t2.0", MIXED),
    "deferred": Deferred("t2.0", "call_x", "why"),
    "doubted": Doubted("t2.0", "gone"),
    "deferred for no reason": Deferred("t2.0", "call_x", None),
    "released": Released("t2.0"),
    "expired": Expired("t2.0"),
    "woken": Woken((("t2.0", Delivered(MIXED)), ("t2.1", Approved()), ("t2.2", Retried()))),
    "held": Held(),
    "taken_over": TakenOver(),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_read_as_it_was_written(name: str) -> None:
    line = dumps(event_to_json(EVENTS[name]))
    assert b"\n" not in line
    assert read_event(line, "events[0]", HEADER) == EVENTS[name]


def test_events_of_whole_sessions_are_written_again_as_they_were() -> None:
    for session in (everything(), forked()):
        header = SessionHeader(session.id, session.seed, session.agent, session.parent)
        for line in session.fresh_events:
            assert dumps(event_to_json(read_event(line, "events[0]", header))) == line


@pytest.mark.parametrize(
    "disposition",
    [
        b'{"tag":"defer"}',
        b'{"tag":"run_sync"}',
        b'{"tag":"defer","reason":"x","approval":false}',
        b'{"tag":"fly"}',
        b"null",
    ],
)
def test_a_disposition_has_one_spelling_once_it_is_stored(disposition: bytes) -> None:
    line = dumps(event_to_json(EVENTS["answered"])).replace(b'{"tag":"runSync"}', disposition)
    with pytest.raises(StateCorrupt, match=r"events\[7\]\.calls\[1\]\.disposition"):
        read_event(line, "events[7]", HEADER)
