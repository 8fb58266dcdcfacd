"""What an isolated worker reads and what it prints: one JSON object each way, made and read here and run elsewhere.

{"token": "…", "toolCall": {"name": "…", "arguments": {}}, "contextSnapshot": {},
     "policy": {"tag": "RunIsolated", "spec": {…}}}
{"token": "…", "status": "success", "result": {"type": "json", "content": {}}}
{"token": "…", "status": "error", "error": {"code": "…", "message": "…"}}
"""

from wf_core.calls.continuations import ContinuationContext
from wf_core.calls.policy import RunIsolated, ToolCall
from wf_core.calls.results import ToolResult
from wf_core.jsonvalue import JsonValue


def build_request(
    token: str, call: ToolCall, context: ContinuationContext, policy: RunIsolated
) -> dict[str, JsonValue]:
    """Make what a worker reads on stdin (`jsonvalue.dumps` of it)."""
    raise NotImplementedError


def read_response(printed: bytes, token: str) -> ToolResult:
    """Read what a worker printed: exactly one envelope, of this token. Its `status` `error` is a failed result.

    Raises:
        EnvelopeError: `envelope_missing` (nothing but space), `envelope_noise` (something before or after it),
            `envelope_repeated` (two), `envelope_token_mismatch`, `envelope_invalid` (no such object).
    """
    raise NotImplementedError
