"""The built-in source."""

from datetime import UTC, datetime

import anyio
import pytest

from wf_artifacts.clock import ManualClock
from wf_core import CallContext
from wf_core.jsonvalue import JsonValue
from wf_core.std.capabilities import STD
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.std import StdSource

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


@pytest.fixture
def std() -> StdSource:
    return StdSource("wf.std", ManualClock(NOW), lambda: "uuid-1")


async def test_everything_of_wf_std_is_offered(std: StdSource) -> None:
    offered = await std.capabilities()

    assert list(offered) == list(STD)
    assert offered["length"].full_name == "wf.std.length"
    assert offered["sleep"].contract.deferred


async def test_pure_capabilities_answer_and_keep_the_callers_input(std: StdSource, context: CallContext) -> None:
    items: JsonValue = [3, 1, 2]

    assert await std.call("sort", {"items": items}, context) == CallResult("ok", {"value": [1, 2, 3]})
    assert items == [3, 1, 2]


async def test_time_and_chance_come_from_outside(std: StdSource, context: CallContext) -> None:
    assert await std.call("now", {}, context) == CallResult("ok", {"value": "2026-11-30T10:00:00.000Z"})
    assert await std.call("uuid", {}, context) == CallResult("ok", {"value": "uuid-1"})
    first, second = [await StdSource("wf.std", ManualClock(NOW)).call("uuid", {}, context) for _ in range(2)]
    assert first != second


async def test_sleep_called_by_itself_waits(
    std: StdSource, context: CallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)

    assert await std.call("sleep", {"seconds": 7}, context) == CallResult("ok", {"value": 7})
    assert slept == [7]


async def test_failures_have_the_code_of_the_step(std: StdSource, context: CallContext) -> None:
    with pytest.raises(CallFailed) as failed:
        await std.call("fail", {"message": "enough", "code": "too_far"}, context)
    assert (failed.value.code, failed.value.message) == ("too_far", "enough")

    with pytest.raises(CallFailed, match=r"wf\.std\.sorte") as unknown:
        await std.call("sorte", {}, context)
    assert (unknown.value.code, unknown.value.executed) == ("capability_not_found", False)
