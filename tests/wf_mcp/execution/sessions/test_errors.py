"""Errors of sessions: their codes are known, and each says what to do."""

import pytest

from wf_core import errors
from wf_core.errors import CallAlreadyCompleted, WfError
from wf_mcp.errors import MEANINGS
from wf_mcp.execution.sessions.errors import (
    AgentUnrunnable,
    CallAnswered,
    CallExpired,
    RunnerMissing,
    SessionAdvancingFailed,
    SessionBlocked,
    SessionInUse,
)

MISSING = [{"code": "capability_not_found", "message": "There is no ops.echo."}]


@pytest.mark.parametrize(
    "error",
    [
        SessionBlocked("sess_1", MISSING),
        AgentUnrunnable("helper", MISSING),
        SessionAdvancingFailed("sess_1"),
        SessionInUse("sess_1", "run", "run_1"),
        RunnerMissing("sess_1"),
        CallAnswered("call_1"),
        CallExpired("call_1"),
    ],
)
def test_every_error_has_a_meaning_and_a_hint(error: WfError) -> None:
    assert error.code in MEANINGS
    assert error.hint


def test_what_is_missing_is_named() -> None:
    assert "There is no ops.echo." in str(SessionBlocked("sess_1", MISSING))
    assert SessionBlocked("sess_1", MISSING).details["diagnostics"] == MISSING


def test_a_late_delivery_is_the_same_mistake_for_a_run_and_a_session() -> None:
    """Whoever tells both catches one class."""
    assert isinstance(CallAnswered("call_1"), CallAlreadyCompleted)
    assert isinstance(CallExpired("call_1"), errors.CallExpired)
