"""What a local worker's end and its words come to: the result of the call, or the error that says what went wrong."""

import signal

from wf_core.calls.envelope import read_response
from wf_core.calls.results import Content, JsonContent, MediaContent, MixedContent, TextContent, ToolResult
from wf_core.errors import EnvelopeError
from wf_mcp.config import Redactor
from wf_mcp.isolation.errors import IsolationError
from wf_mcp.isolation.supervised import Ended
from wf_mcp.sources.boundary import presentable

_HINT = "docs/isolation.md says what a worker reads and prints; the log at debug level shows its stderr."


def read_answer(ended: Ended, token: str, last_words: str, redactor: Redactor, *, killed: str = "") -> ToolResult:
    """Read what a worker that has ended answered. `killed` says what may have killed it, should it have been killed.

    Raises:
        IsolationError: it failed (`isolation_failed`), also when it answered before; or it answered what is not exactly
            one envelope of this call (`isolation_output_invalid`).
    """
    if ended.exit_status != 0:
        said = f", saying: {presentable(last_words, redactor)}" if last_words else ""
        after = " after it had answered" if ended.stdout.strip() else ""
        raise IsolationError(
            "isolation_failed",
            f"The isolated worker {_how(ended, killed)}{after}{said}.",
            executed=True,
            hint="A worker ends with exit status 0, also when the call failed. " + _HINT,
            details={"exit_status": ended.exit_status, "signal": ended.signal},
        )
    return read_envelope(ended.stdout, token, redactor)


def read_envelope(printed: bytes, token: str, redactor: Redactor) -> ToolResult:
    """Read the one envelope that a worker printed, without secrets.

    Raises:
        IsolationError: `isolation_output_invalid`: it is none.
    """
    try:
        return _without_secrets(read_response(printed, token), redactor)
    except EnvelopeError as exc:
        raise IsolationError(
            "isolation_output_invalid",
            _explained(exc, printed, token, redactor),
            executed=True,
            hint=_HINT,
            details={"reason": exc.code},
        ) from None


def _explained(error: EnvelopeError, printed: bytes, token: str, redactor: Redactor) -> str:
    """Give the message of an error that quotes the beginning of what was printed, where a secret could be cut."""
    try:
        read_response(redactor.text(printed.decode("utf-8", "replace")).encode(), token)
    except EnvelopeError as exc:
        return presentable(exc.message, redactor)
    return presentable(error.message, redactor)


def _how(ended: Ended, killed: str) -> str:
    if ended.signal is None:
        by = killed if ended.exit_status == 128 + signal.SIGKILL else ""
        return f"ended with exit status {ended.exit_status}{by}"
    try:
        name = signal.Signals(ended.signal).name
    except ValueError:
        name = f"signal {ended.signal}"
    return f"was ended by {name}{killed if ended.signal == signal.SIGKILL else ''}"


def _without_secrets(result: ToolResult, redactor: Redactor) -> ToolResult:
    return ToolResult(_redacted(result.content, redactor), result.error)


def _redacted(content: Content, redactor: Redactor) -> Content:
    match content:
        case TextContent(text):
            return TextContent(redactor.text(text))
        case JsonContent(value):
            return JsonContent(redactor.json(value))
        case MediaContent(mime_type, data, filename):
            return MediaContent(redactor.text(mime_type), data, None if filename is None else redactor.text(filename))
        case MixedContent(parts):
            return MixedContent(tuple(_redacted(part, redactor) for part in parts))
