"""Calls whose results are used again."""

import pytest

from tests.wf_mcp.execution.calls.requests import request
from tests.wf_mcp.scripted import ScriptedSource, failing
from wf_artifacts.clock import SystemClock
from wf_artifacts.stores import open_stores
from wf_core.calls.policy import Decorate, Defer, RunSync, WithCacheKey
from wf_core.calls.results import as_text
from wf_mcp.execution.calls.caching import CachedCalls, cache_key_of, caching_executor
from wf_mcp.execution.calls.in_process import in_process_executor
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
from wf_mcp.execution.calls.yielding import yielding_executor

pytestmark = pytest.mark.anyio

KEPT = Decorate((WithCacheKey(),), RunSync())


async def test_a_call_is_made_once_for_arguments_that_are_canonically_equal() -> None:
    source, cache = ScriptedSource(), open_stores("memory://").cache
    executor = caching_executor(cache, in_process_executor({"ops": source}, max_bytes=100), clock=SystemClock())
    for value in (1, 1.0, "1", True, 1):
        assert as_text((await executor.exec_sync(request(disposition=KEPT, n=value))).result)
    assert [given["n"] for _, given, _ in source.calls] == [1, "1", True]
    await executor.exec_sync(request(n=1))
    assert len(source.calls) == 4


async def test_a_failed_result_is_not_kept() -> None:
    source = ScriptedSource(acts={"echo": failing()})
    inner = in_process_executor({"ops": source}, max_bytes=100)
    executor = caching_executor(open_stores("memory://").cache, inner, clock=SystemClock())
    for _ in range(2):
        ended = await executor.exec_async(request(disposition=KEPT))
        assert isinstance(ended, CallComplete)
        assert ended.result.error
    assert len(source.calls) == 2


async def test_a_call_that_is_put_off_keeps_its_key_and_completes_from_the_cache() -> None:
    cache, clock = open_stores("memory://").cache, SystemClock()
    asked = request(disposition=Decorate((WithCacheKey("one"),), Defer("later")))
    executor = caching_executor(cache, yielding_executor(), clock=clock, scope="me")
    key = cache_key_of(asked, "me")
    assert await executor.exec_async(asked) == CallYield("call_1", key, "deferred", "later")
    inner = in_process_executor({"ops": ScriptedSource()}, max_bytes=100)
    ended = await inner.exec_sync(request(n=1))
    await CachedCalls(cache, clock).keep(key, ended.result)
    assert await executor.exec_async(asked) == CallComplete(ended.result)


def test_results_are_shared_within_a_scope_alone() -> None:
    asked = request(disposition=KEPT)
    assert len({cache_key_of(asked, scope) for scope in (None, "me", "you")}) == 3
    assert cache_key_of(request(), None) is None
