"""Calls whose results are kept, and used again by calls that are canonically equal."""

from wf_artifacts.calls.store import CallCache
from wf_artifacts.clock import Clock
from wf_core.calls.cache import cache_key
from wf_core.calls.policy import WithCacheKey, decorators
from wf_core.calls.results import ToolResult, read_result, result_to_json
from wf_mcp.execution.calls.protocol import CallComplete, CallExecutor, CallRequest, CallYield


def cache_key_of(request: CallRequest, scope: str | None) -> str | None:
    """Give the key under which a call's result is kept; None where its policy wants none kept.

    `scope` is whose results are shared; None shares them among all.
    """
    for decorator in decorators(request.disposition):
        if isinstance(decorator, WithCacheKey):
            target = request.target
            return cache_key(target.capability, target.digest, request.call.arguments, scope, decorator.key)
    return None


class CachedCalls:
    """The results of calls that may be used again."""

    def __init__(self, cache: CallCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def find(self, key: str | None) -> ToolResult | None:
        """Give the result that is kept under a key."""
        found = None if key is None else await self._cache.get(key)
        return None if found is None else read_result(found)

    async def keep(self, key: str | None, result: ToolResult) -> None:
        """Keep a result. One that failed is not kept."""
        if key is not None and not result.error:
            await self._cache.put(key, result_to_json(result), now=self._clock.now())


def caching_executor(cache: CallCache, inner: CallExecutor, *, clock: Clock, scope: str | None = None) -> CallExecutor:
    """Answer a call from the cache where its policy says so, else by `inner`, and keep what that gives."""
    return _Caching(CachedCalls(cache, clock), inner, scope)


class _Caching:
    def __init__(self, cached: CachedCalls, inner: CallExecutor, scope: str | None) -> None:
        self._cached = cached
        self._inner = inner
        self._scope = scope

    async def exec_sync(self, request: CallRequest) -> CallComplete:
        key = cache_key_of(request, self._scope)
        found = await self._cached.find(key)
        if found is not None:
            return CallComplete(found)
        ended = await self._inner.exec_sync(request)
        await self._cached.keep(key, ended.result)
        return ended

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        key = cache_key_of(request, self._scope)
        found = await self._cached.find(key)
        if found is not None:
            return CallComplete(found)
        ended = await self._inner.exec_async(request)
        if isinstance(ended, CallYield):
            return CallYield(ended.token, key, ended.kind, ended.reason, ended.expires_seconds)
        await self._cached.keep(key, ended.result)
        return ended
