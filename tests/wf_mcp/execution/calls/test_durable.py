"""Calls as their policy says."""

from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.calls.requests import request
from tests.wf_mcp.execution.calls.test_isolated import Noting
from tests.wf_mcp.scripted import ScriptedSource
from wf_artifacts.clock import SystemClock
from wf_artifacts.stores import open_stores
from wf_core.calls.policy import Decorate, Defer, RunAsync, RunIsolated, RunSync, WithCacheKey, WithRetries
from wf_core.calls.results import as_text, json_result
from wf_core.jsonvalue import MAX_DEPTH
from wf_mcp.execution.calls.durable import durable_executor
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
from wf_mcp.sources.protocol import CallDeferred

pytestmark = pytest.mark.anyio


async def test_each_disposition_is_carried_out_in_its_own_way() -> None:
    source, runner = ScriptedSource(), Noting()
    executor = durable_executor({"ops": source}, max_bytes=100, clock=SystemClock(), runner=runner)
    for disposition in (RunSync(), RunAsync(), Decorate((WithRetries(1),), RunSync())):
        assert isinstance(await executor.exec_async(request(disposition=disposition)), CallComplete)
    assert (len(source.calls), runner.asked) == (3, [])
    for disposition in (Defer("later"), Defer("it writes", approval=True), RunIsolated()):
        assert isinstance(await executor.exec_async(request(disposition=disposition)), CallYield)
    assert (len(source.calls), runner.asked) == (3, [])


async def test_a_call_that_was_put_off_is_carried_out_where_its_policy_says_when_it_is_its_turn() -> None:
    source, runner = ScriptedSource(), Noting()
    executor = durable_executor({"ops": source}, max_bytes=100, clock=SystemClock(), runner=runner)
    assert as_text((await executor.exec_sync(request(disposition=RunIsolated()))).result) == "from there"
    assert as_text((await executor.exec_sync(request(disposition=Defer("", approval=True)))).result) == "{}"
    assert (len(source.calls), len(runner.asked)) == (1, 1)


async def test_what_the_cache_holds_is_carried_out_nowhere() -> None:
    source, runner = ScriptedSource(), Noting()
    cache = open_stores("memory://").cache
    executor = durable_executor(
        {"ops": source}, max_bytes=100, clock=SystemClock(), cache=cache, scope="me", runner=runner
    )
    kept = (WithCacheKey("one"),)
    await executor.exec_sync(request(disposition=Decorate(kept, RunSync())))
    for disposition in (RunSync(), RunIsolated(), Defer("later")):
        ended = await executor.exec_async(request(disposition=Decorate(kept, disposition)))
        assert isinstance(ended, CallComplete)
    assert (len(source.calls), runner.asked) == (1, [])


async def test_a_callee_may_put_off_what_is_run_at_once() -> None:
    async def elsewhere(given: dict[str, Any]) -> Any:
        raise CallDeferred("a session waits")

    source = ScriptedSource(acts={"echo": elsewhere})
    executor = durable_executor({"ops": source}, max_bytes=100, clock=SystemClock())
    assert await executor.exec_async(request()) == CallYield("call_1", kind="callee", reason="a session waits")


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
async def test_a_result_is_kept_and_given_again_or_is_a_failure_and_kept_nowhere(levels: int) -> None:
    async def deep(given: dict[str, Any]) -> Any:
        return nested(levels)

    source, cache = ScriptedSource(acts={"echo": deep}), open_stores("memory://").cache
    executor = durable_executor({"ops": source}, max_bytes=1000, clock=SystemClock(), cache=cache, scope="me")
    asked = request(disposition=Decorate((WithCacheKey("one"),), RunSync()), repeatable=True)
    first, second = await executor.exec_sync(asked), await executor.exec_async(asked)
    assert isinstance(second, CallComplete)
    assert first.result == second.result
    if levels <= MAX_DEPTH:
        assert (first.result, len(source.calls)) == (json_result(nested(levels)), 1)
    else:
        assert (first.code, len(source.calls)) == ("output_invalid", 2)
