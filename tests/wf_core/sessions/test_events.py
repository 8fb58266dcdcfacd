"""What an event's line looks like. Every kind is read back in tests/wf_core/codec/test_session_events.py."""

import pytest

from tests.wf_core.conversations import start
from wf_core.calls.policy import AppliedPolicy, Defer, ToolCall
from wf_core.calls.results import text_result
from wf_core.sessions import Approved, Delivered, Retried, Usage
from wf_core.sessions.events import (
    Answered,
    AskedCall,
    Begun,
    Completed,
    Deferred,
    Doubted,
    Event,
    Expired,
    Forked,
    Held,
    Released,
    TakenOver,
    Woken,
    event_to_json,
)
from wf_core.sessions.forms import state_to_json

ASKED = AskedCall(ToolCall("w", {}, "x", "ops.w"), AppliedPolicy(Defer("r"), "w*"), None)
DONE = {"type": "text", "content": "done"}


@pytest.mark.parametrize(
    ("event", "written"),
    [
        (Begun(("t2.0",)), {"event": "begun", "calls": ["t2.0"]}),
        (Completed("t2.0", text_result("done")), {"event": "completed", "call": "t2.0", "result": DONE}),
        (Deferred("t2.0", "call_x", None), {"event": "deferred", "call": "t2.0", "token": "call_x", "reason": None}),
        (Doubted("t2.0", "gone"), {"event": "doubted", "call": "t2.0", "reason": "gone"}),
        (Released("t2.0"), {"event": "released", "call": "t2.0"}),
        (Expired("t2.0"), {"event": "expired", "call": "t2.0"}),
        (Held(), {"event": "held"}),
        (TakenOver(), {"event": "taken_over"}),
        (
            Woken((("a", Delivered(text_result("done"))), ("b", Approved()), ("c", Retried()))),
            {
                "event": "woken",
                "deliveries": [
                    {"call": "a", "kind": "result", "result": DONE},
                    {"call": "b", "kind": "approval"},
                    {"call": "c", "kind": "retry"},
                ],
            },
        ),
        (
            Answered(
                "Hm.", (AskedCall(ToolCall("w", {}, "x", "ops.w"), AppliedPolicy(Defer("r"), "w*"), None),), Usage()
            ),
            {
                "event": "answered",
                "text": "Hm.",
                "calls": [
                    {
                        "name": "w",
                        "arguments": {},
                        "provider_call_id": "x",
                        "capability": "ops.w",
                        "disposition": {"tag": "defer", "reason": "r"},
                        "rule": "w*",
                        "fault": None,
                    }
                ],
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        ),
    ],
    ids=lambda given: type(given).__name__,
)
def test_an_event_is_one_compact_object(event: Event, written: object) -> None:
    assert event_to_json(event) == written


def test_a_fork_holds_its_whole_state() -> None:
    session = start()
    assert event_to_json(Forked("sess_0", session)) == {
        "event": "forked",
        "origin": "sess_0",
        "state": state_to_json(session),
    }
