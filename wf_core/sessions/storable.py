"""What comes into a session from outside, as it can be stored."""

from wf_core.calls.results import ToolResult, result_to_json
from wf_core.errors import InvalidResult, NotJson
from wf_core.jsonvalue import check


def storable(text: str) -> str:
    """Give a text as it can be stored: what is no character of a text (a lone surrogate) becomes `?`."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def require_result(result: ToolResult) -> None:
    """Refuse a result that is no strict JSON.

    Raises:
        InvalidResult: naming the place.
    """
    try:
        check(result_to_json(result), "result")
    except NotJson as bad:
        raise InvalidResult(
            f"This cannot be the result of a call. {bad.message}", hint=bad.hint, details=bad.details
        ) from bad
