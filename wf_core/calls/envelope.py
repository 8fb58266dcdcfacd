"""What an isolated worker reads and what it prints: one JSON object each way.

    {"token": "…", "toolCall": {"name": "…", "arguments": {}}, "contextSnapshot": {},
     "policy": {"tag": "RunIsolated", "spec": {…}}}
    {"token": "…", "status": "success", "result": {"type": "json", "content": {}}}
    {"token": "…", "status": "error", "error": {"code": "…", "message": "…"}}

Both are made and read here; the worker is run elsewhere.
"""

from json import JSONDecoder

from wf_core.calls.policy import PolicyContext, RunIsolated, ToolCall
from wf_core.calls.policy_data import context_to_json, spec_to_json
from wf_core.calls.results import ToolResult, read_form, read_result, text_result
from wf_core.errors import EnvelopeError, NotJson
from wf_core.jsonvalue import JsonValue, check, loads, quote


def build_request(token: str, call: ToolCall, context: PolicyContext, policy: RunIsolated) -> dict[str, JsonValue]:
    """Make what a worker reads on stdin (`jsonvalue.dumps` of it)."""
    return {
        "token": token,
        "toolCall": {"name": call.name, "arguments": call.arguments},
        "contextSnapshot": {_camel(key): value for key, value in context_to_json(context).items()},
        "policy": {"tag": "RunIsolated", "spec": spec_to_json(policy.spec)},
    }


def read_response(printed: bytes, token: str) -> ToolResult:
    """Read what a worker printed: exactly one envelope, of this token. Its `status` `error` is a failed result.

    Raises:
        EnvelopeError: `envelope_missing` (nothing but space), `envelope_noise` (something before or after it),
            `envelope_repeated` (two), `envelope_token_mismatch`, `envelope_invalid` (no such object).
    """
    text = printed.strip()
    if not text:
        raise EnvelopeError("envelope_missing", "The worker printed nothing.", hint=_LOG)
    try:
        value = loads(text, "answer")
    except NotJson as bad:
        raise _no_document(text, bad) from bad
    match value:
        case {"token": str(found)} if found != token:
            raise EnvelopeError("envelope_token_mismatch", "The worker answered for another token.", hint=_SHAPE)
        case {"token": str(), "status": "success", "result": result}:
            return text_result(result) if isinstance(result, str) else _result(result)
        case {"token": str(), "status": "error", "error": {"code": str(code), "message": str(message)}}:
            return text_result(f"{code}: {message}" if message else code, error=True)
        case _:
            raise EnvelopeError("envelope_invalid", "What the worker printed is no answer.", hint=_SHAPE)


def _result(given: JsonValue) -> ToolResult:
    """Read a result that is no text. One too deep to be stored is not taken as words in its place."""
    found = read_form(given)
    if found is not None:
        return found
    try:
        check(given, "result")
    except NotJson as bad:
        raise EnvelopeError("envelope_invalid", f"The worker's result cannot be stored: {bad.reason}.") from bad
    return read_result(given)


def _no_document(text: bytes, bad: NotJson) -> EnvelopeError:
    """Say what stands where one envelope should."""
    decoded = text.decode(errors="replace")
    try:
        first, end = JSONDecoder().raw_decode(decoded)
    except ValueError:
        if decoded.startswith("{"):
            return EnvelopeError(
                "envelope_invalid", f"What the worker printed is no answer: {bad.reason}.", hint=_SHAPE
            )
        return EnvelopeError("envelope_noise", f"The worker printed more than its answer: {quote(decoded)}", hint=_LOG)
    except RecursionError:
        return EnvelopeError("envelope_invalid", "What the worker printed is nested too deeply.", hint=_SHAPE)
    rest = decoded[end:].strip()
    if not rest:
        return EnvelopeError("envelope_invalid", f"What the worker printed is no answer: {bad.reason}.", hint=_SHAPE)
    if isinstance(first, dict) and rest.startswith("{"):
        return EnvelopeError("envelope_repeated", "The worker printed more than one answer.", hint=_SHAPE)
    return EnvelopeError("envelope_noise", f"The worker printed more than its answer: {quote(decoded)}", hint=_LOG)


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(other.capitalize() for other in others)


_SHAPE = 'It prints exactly one {"token", "status": "success", "result"} or {"token", "status": "error", "error"}.'
_LOG = "A worker prints its answer, and nothing else, on stdout; stderr is its log."
