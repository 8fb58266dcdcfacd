"""What comes into a session from outside, as it can be stored."""

from wf_core.calls.results import ToolResult, check_result
from wf_core.errors import InvalidResult, NotJson


def storable(text: str) -> str:
    """Give a text as it can be stored: what is no character of a text (a lone surrogate) becomes `?`."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def require_result(result: ToolResult) -> None:
    """Refuse a result that is no strict JSON.

    Raises:
        InvalidResult: naming the place.
    """
    try:
        check_result(result)
    except NotJson as bad:
        raise InvalidResult(
            f"This cannot be the result of a call. {bad.message}", hint=bad.hint, details=bad.details
        ) from bad
