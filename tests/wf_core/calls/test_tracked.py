"""The table of a call's states: SESSIONS 1, row by row, and nothing besides."""

from itertools import product
from typing import get_args

import pytest

from wf_core.calls.policy import AppliedPolicy, RunSync
from wf_core.calls.results import text_result
from wf_core.calls.tracked import FINAL, CallEvent, CallState, TrackedCall, advance, ending, next_state
from wf_core.errors import CallAlreadyCompleted, IllegalTransition

TABLE = {
    "ready": {"begin": "running", "defer": "deferred", "complete": "completed"},
    "running": {"complete": "completed", "fail": "failed", "doubt": "in_doubt", "wake": "ready"},
    "deferred": {"wake": "ready", "complete": "completed", "fail": "failed", "expire": "expired", "doubt": "in_doubt"},
    "in_doubt": {"wake": "ready", "complete": "completed", "fail": "failed"},
    "completed": {},
    "failed": {},
    "expired": {},
}


def tracked(state: CallState) -> TrackedCall:
    return TrackedCall("t2.0", "a", "write", {}, AppliedPolicy(RunSync(), "default"), state)


def test_there_are_these_states() -> None:
    assert set(TABLE) == set(get_args(CallState))
    assert {state for state, events in TABLE.items() if not events} == FINAL


@pytest.mark.parametrize(("state", "event"), list(product(get_args(CallState), get_args(CallEvent))))
def test_a_state_changes_as_the_table_says_or_not_at_all(state: CallState, event: CallEvent) -> None:
    call = tracked(state)
    if event in TABLE[state]:
        assert next_state(call, event) == TABLE[state][event]
        assert call.state == state
        advance(call, event)
        assert call.state == TABLE[state][event]
        return
    with pytest.raises(CallAlreadyCompleted if state in FINAL else IllegalTransition) as caught:
        advance(call, event)
    assert call.state == state
    assert caught.value.details == {"call_id": "t2.0", "state": state, "event": event}


def test_a_call_that_never_began_cannot_have_failed() -> None:
    assert ending(tracked("ready"), text_result("no", error=True)) == "complete"
    assert ending(tracked("running"), text_result("no", error=True)) == "fail"
    assert ending(tracked("deferred"), text_result("yes")) == "complete"
