"""The JSON of a session's records. It is read back in tests/wf_core/codec/test_session_state.py."""

import dataclasses

from tests.wf_core.conversations import call, calls, start
from wf_core.calls.results import text_result
from wf_core.calls.tracked import TrackedCall
from wf_core.jsonvalue import check
from wf_core.sessions import Attachment, LlmTurn, Notice, PartialUserTurn, PlacedResult, Usage, UserTurn, answer, defer
from wf_core.sessions.forms import state_to_json, tracked_to_json, turn_to_json


def test_every_field_of_a_call_is_written() -> None:
    session = start()
    answer(session, "", [call("remote", "a")])
    defer(session, "t2.0", reason="why")
    written = tracked_to_json(calls(session)[0])
    fields = {field.name for field in dataclasses.fields(TrackedCall)} - {"policy"}
    assert set(written) == fields | {"disposition", "rule"}
    assert (written["state"], written["reason"], written["rule"]) == ("deferred", "why", "remote")


def test_a_turn_says_its_kind() -> None:
    done = text_result("done")
    turn = UserTurn(
        "t2",
        None,
        (PlacedResult("t2.0", "x", "write", done, held=True),),
        (Notice("t0.0", "build", done),),
        (Attachment("text/plain", "AAAA"),),
    )
    assert turn_to_json(turn) == {
        "kind": "user",
        "id": "t2",
        "query": None,
        "results": [
            {
                "call_id": "t2.0",
                "provider_call_id": "x",
                "name": "write",
                "result": {"type": "text", "content": "done"},
                "held": True,
            }
        ],
        "notices": [{"call_id": "t0.0", "name": "build", "result": {"type": "text", "content": "done"}, "held": False}],
        "attachments": [{"mime_type": "text/plain", "base64_data": "AAAA", "filename": None}],
    }
    assert turn_to_json(LlmTurn("t1", "Hi.", (), Usage(1, 2)))["usage"] == {"input_tokens": 1, "output_tokens": 2}
    assert turn_to_json(PartialUserTurn("t2", [])) == {"kind": "partial", "id": "t2", "calls": []}


def test_a_state_is_strict_json() -> None:
    session = start()
    answer(session, "", [call("write")])
    written = state_to_json(session)
    check(written, "state")
    assert list(written) == ["turns", "held", "queries", "attachments", "notices", "asked"]
