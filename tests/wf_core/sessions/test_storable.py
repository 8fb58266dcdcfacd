"""What the outside gives as a result, as it can be stored."""

import pytest

from wf_core.calls.results import JsonContent, ToolResult, text_result
from wf_core.errors import InvalidResult
from wf_core.sessions.storable import require_result


def test_a_result_is_strict_json() -> None:
    require_result(text_result("fine"))
    with pytest.raises(InvalidResult) as caught:
        require_result(ToolResult(JsonContent({"a": [float("inf")]})))
    assert caught.value.details["where"] == "result.content.a[0]"
