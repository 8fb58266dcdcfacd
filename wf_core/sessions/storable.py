"""What the outside gives as the result of a call, as it can be stored."""

from wf_core.calls.results import ToolResult, check_result
from wf_core.errors import InvalidResult, NotJson


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
