"""Arguments that every surface checks alike."""

import math

import pytest

from tests.wf_mcp.scripted import opened
from wf_core.errors import InvalidInput
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.operations.checks import check_key, check_limit, check_wait, storable

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("seconds", [0, 0.5, 45])
def test_a_waiting_time_within_bounds_is_taken(seconds: float) -> None:
    check_wait(seconds)


@pytest.mark.parametrize("seconds", [-0.1, 45.1, math.inf, math.nan])
def test_a_waiting_time_out_of_bounds_is_refused_and_not_clamped(seconds: float) -> None:
    with pytest.raises(InvalidArgument, match="wait_seconds"):
        check_wait(seconds)


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_page_size_out_of_bounds_is_refused(limit: int) -> None:
    check_limit(1)
    check_limit(100)
    with pytest.raises(InvalidArgument, match="limit"):
        check_limit(limit)


@pytest.mark.parametrize("key", ["", "  ", "x" * 257, f"run_{'0' * 36}:c1", f"sess_{'0' * 36}:t2.0"])
def test_a_key_that_says_nothing_or_too_much_or_names_a_call_is_refused(key: str) -> None:
    check_key(None)
    check_key("k" * 256)
    check_key("order:c1")
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        check_key(key)


async def test_what_is_stored_is_strict_json_and_the_error_names_the_place() -> None:
    async with opened() as app:
        with pytest.raises(InvalidInput, match=r"workflow_input\.rows\[1\]"):
            storable(app, "workflow_input", {"rows": [1, math.nan]}, InvalidInput)


async def test_the_bound_is_on_bytes_of_compact_json() -> None:
    async with opened(max_bytes=10) as app:
        assert storable(app, "input", "é" * 4) == "éééé"
        with pytest.raises(TooLarge) as refused:
            storable(app, "input", "é" * 5)
    assert (refused.value.size, refused.value.limit) == (12, 10)


async def test_secrets_do_not_enter_the_store() -> None:
    async with opened() as app:
        app.redactor.add("hunter22")
        assert storable(app, "input", {"hunter22": ["it is hunter22"]}) == {"[redacted]": ["it is [redacted]"]}
