"""Taking over what other processes left in the middle."""

import logging
from collections.abc import Mapping

import anyio
import pytest

from wf_artifacts.errors import DocumentUnreadable, RunBusy, RunNotFound, StoreFull
from wf_core.errors import WfError
from wf_core.ids import RunId
from wf_mcp.execution.abandoned import AT_ONCE, Attempts, is_of_store, take_over_each

pytestmark = pytest.mark.anyio


async def test_what_cannot_be_taken_over_is_told_with_its_reason_and_leaves_the_others_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken: list[str] = []

    async def take(one: str) -> None:
        if one == "gone":
            raise RunNotFound(RunId(one))
        if one == "busy":
            raise RunBusy(RunId(one))
        taken.append(one)

    with caplog.at_level(logging.WARNING):
        left = await take_over_each("run", ["a", "gone", "busy", "b"], take, busy=RunBusy)
    assert taken == ["a", "b"]
    assert list(left) == ["gone"]
    assert isinstance(left["gone"], WfError)
    assert "The run gone is left as it is" in caplog.text


async def test_some_are_taken_over_at_the_same_time_and_no_more_than_that() -> None:
    under_way, most = 0, 0
    full = anyio.Event()

    async def take(_: str) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == AT_ONCE:
            full.set()
        await full.wait()
        under_way -= 1

    with anyio.fail_after(5):
        await take_over_each("run", [str(number) for number in range(3 * AT_ONCE)], take, busy=RunBusy)
    assert most == AT_ONCE


async def test_one_is_tried_only_so_often_but_as_often_as_it_takes_where_the_store_is_to_blame() -> None:
    reasons: dict[str, WfError] = {
        "gone": RunNotFound(RunId("gone")),
        "unreadable": DocumentUnreadable("runs/unreadable", "Permission denied"),
        "full": StoreFull("runs/full", "No space left on device"),
    }
    tries: list[str] = []

    async def take(found: list[str]) -> Mapping[str, WfError]:
        tries.extend(found)
        return {one: reasons[one] for one in found if one in reasons}

    attempts, torn = Attempts[str](2), set[str]()
    for _ in range(5):
        # This one is taken over each time, and torn from the process again.
        await attempts.take_over([*reasons, "torn", "crashing"], torn, take)
        torn.add("torn")
    assert {one: tries.count(one) for one in tries} == {
        "gone": 2, "unreadable": 2, "crashing": 2, "full": 5, "torn": 5
    }  # fmt: skip
    assert [one for one, error in reasons.items() if is_of_store(error)] == ["full"]
