"""What failures of the SDK and its transports mean: in words, and whether the call may have executed."""

import anyio
from mcp import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from pydantic import ValidationError

from wf_core.calls.contract import CAPABILITY_ERROR
from wf_core.jsonvalue import place, quote
from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import presentable
from wf_mcp.sources.errors import CallFailed

NOT_SENT, REFUSED, SESSION_GONE, BROKEN, UNREADABLE = -31001, -31002, -31003, -31004, -31005
"""Codes of our own, outside the range that JSON-RPC reserves, by which transports tell what became of a request: it
never left; the server refused it; the server no longer knows the session; the connection broke after it had left; the
answer cannot be read."""

_NOT_EXECUTED = frozenset(
    {
        NOT_SENT,
        REFUSED,
        SESSION_GONE,
        HEADER_MISMATCH,
        INVALID_PARAMS,
        METHOD_NOT_FOUND,
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        UNSUPPORTED_PROTOCOL_VERSION,
    }
)
_UNREACHABLE = frozenset({NOT_SENT, SESSION_GONE})
_SAID_BY_THE_SDK = ("Connection closed", "SSE stream ")
"""How the SDK reports a lost connection, under a code that servers use for errors of their own."""
_CANNOT_READ = "Failed to parse "
"""How the SDK reports over HTTP that an answer is no message; it shows the answer."""


class UnsendableHeader(ValueError):
    """HTTP has no place for a configured header: it is no ASCII, or has a line break, or spaces around it."""

    def __init__(self, name: str) -> None:
        # The value is likely to be secret, and so is what an encoder says of it.
        super().__init__(
            f"its header {quote(name)} cannot be sent: a header consists of visible ASCII characters, "
            "with spaces and tabs between them alone"
        )


class EndlessListing(Exception):
    """A server's listing of tools has no end."""


def is_lost(error: BaseException) -> bool:
    """Tell whether the connection on which a request failed is of no more use."""
    match error:
        case MCPError():
            return error.code in {BROKEN, SESSION_GONE} or (
                error.code == CONNECTION_CLOSED and error.message.startswith(_SAID_BY_THE_SDK)
            )
        case _:
            return isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError)


def is_session_gone(error: BaseException) -> bool:
    """Tell whether the server has not looked at a request because it restarted since the session began."""
    return isinstance(error, MCPError) and error.code == SESSION_GONE


def failed_call(tool: str, error: BaseException, redactor: Redactor) -> CallFailed:
    """Say what became of a call to `tool` (its full name) that ended with `error`."""
    if is_lost(error) and not is_session_gone(error):
        return CallFailed(
            "connection_lost",
            f"The connection ended during the call of {tool}.",
            executed=True,
            hint="Whether the call had an effect is unknown. The next call connects again.",
        )
    match error:
        case MCPError() if error.code == REQUEST_TIMEOUT:
            return CallFailed("timeout", f"{tool} did not answer in time.", executed=True)
        case MCPError() if error.code == UNREADABLE:
            message = f"The answer of {tool} cannot be read: {error.message}."
            return CallFailed("output_invalid", message, executed=True)
        case MCPError() if error.code == PARSE_ERROR and error.message.startswith(_CANNOT_READ):
            return CallFailed("output_invalid", f"The answer of {tool} cannot be read.", executed=True)
        case MCPError():
            code = "source_unavailable" if error.code in _UNREACHABLE else CAPABILITY_ERROR
            executed = error.code not in _NOT_EXECUTED
            reason = presentable(error.message, redactor)
            return CallFailed(code, f"{tool}: {reason}", executed=executed, details={"mcp_code": error.code})
        case ValidationError():
            return CallFailed("output_invalid", f"The answer of {tool} is no MCP tool result.", executed=True)
        case _:
            return CallFailed(CAPABILITY_ERROR, f"{tool} failed: {type(error).__name__}.", executed=True)


def why_not_connected(error: BaseException, redactor: Redactor) -> str:
    """Say why no connection came about, as the end of a sentence that begins with the source's name."""
    match error:
        case FileNotFoundError():
            return f"{presentable(str(error.filename), redactor)} was not found"
        case TimeoutError():
            return "it did not answer in time"
        case OSError():
            return f"it could not be started: {error.strerror or type(error).__name__}"
        case MCPError() if error.code == CONNECTION_CLOSED and is_lost(error):
            return "it ended before it answered"
        case MCPError() if error.code == UNREADABLE:
            return f"what it answered cannot be read: {error.message}"
        case MCPError():
            return presentable(error.message, redactor)
        case EndlessListing() | UnsendableHeader():
            return str(error)
        case ValidationError():
            problem = error.errors(include_url=False, include_input=False)[0]
            return f"what it answered is no MCP: {place('answer', problem['loc'])}: {problem['msg']}"
        case _:
            return f"{type(error).__name__}: {presentable(str(error), redactor)}"
