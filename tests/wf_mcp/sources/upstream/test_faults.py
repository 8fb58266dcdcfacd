"""What failures of the SDK and its transports mean."""

import anyio
import pytest
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from wf_mcp.config import Redactor
from wf_mcp.sources.upstream.faults import (
    BROKEN,
    NOT_SENT,
    REFUSED,
    SESSION_GONE,
    UNREADABLE,
    failed_call,
    is_lost,
    is_session_gone,
    why_not_connected,
)


@pytest.mark.parametrize(
    ("error", "code", "executed"),
    [
        (MCPError(NOT_SENT, "x"), "source_unavailable", False),
        (MCPError(SESSION_GONE, "x"), "source_unavailable", False),
        (MCPError(REFUSED, "x"), "capability_error", False),
        (MCPError(BROKEN, "x"), "connection_lost", True),
        (MCPError(UNREADABLE, "x"), "output_invalid", True),
        (MCPError(CONNECTION_CLOSED, "Connection closed"), "connection_lost", True),
        (MCPError(REQUEST_TIMEOUT, "x"), "timeout", True),
        (anyio.ClosedResourceError(), "connection_lost", True),
        (KeyError("x"), "capability_error", True),
    ],
)
def test_each_failure_says_whether_the_call_may_have_executed(
    error: Exception, code: str, executed: bool, redactor: Redactor
) -> None:
    failed = failed_call("up.tool", error, redactor)

    assert (failed.code, failed.executed) == (code, executed)
    assert "up.tool" in failed.message
    assert "\n" not in failed.message


def test_a_server_may_use_the_code_of_a_lost_connection_for_errors_of_its_own(redactor: Redactor) -> None:
    error = MCPError(CONNECTION_CLOSED, "quota exceeded")

    assert not is_lost(error)
    failed = failed_call("up.tool", error, redactor)
    assert (failed.code, failed.executed, failed.message) == ("capability_error", True, "up.tool: quota exceeded")
    assert why_not_connected(error, redactor) == "quota exceeded"
    assert (
        why_not_connected(MCPError(CONNECTION_CLOSED, "Connection closed"), redactor) == "it ended before it answered"
    )


def test_a_server_that_is_too_slow_is_not_said_to_be_missing(redactor: Redactor) -> None:
    assert why_not_connected(TimeoutError(), redactor) == "it did not answer in time"


def test_a_connection_is_given_up_only_when_it_is_of_no_more_use() -> None:
    assert is_lost(MCPError(BROKEN, "x"))
    assert is_lost(MCPError(SESSION_GONE, "x"))
    assert is_lost(anyio.BrokenResourceError())
    assert not is_lost(MCPError(NOT_SENT, "x"))
    assert not is_lost(MCPError(-32603, "x"))
    assert is_session_gone(MCPError(SESSION_GONE, "x"))
    assert not is_session_gone(MCPError(BROKEN, "x"))


def test_why_there_is_no_connection_is_told_without_secrets(redactor: Redactor) -> None:
    told = why_not_connected(MCPError(-32603, "bad key sesame-street in /etc/passwd"), redactor)
    assert told == "bad key [redacted] in passwd"
    assert why_not_connected(ValueError("x"), redactor) == "ValueError: x"
