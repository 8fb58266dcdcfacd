"""Calls as their policy says: made here, made in isolation, put off; within limits, repeated, from the cache."""

from collections.abc import Mapping
from dataclasses import replace

from wf_artifacts.calls.store import CallCache
from wf_artifacts.clock import Clock
from wf_core.calls.policy import Defer, RunIsolated, bare
from wf_mcp.execution.calls.caching import caching_executor
from wf_mcp.execution.calls.decorated import decorated
from wf_mcp.execution.calls.in_process import in_process_executor
from wf_mcp.execution.calls.isolated import isolated_executor
from wf_mcp.execution.calls.protocol import CallComplete, CallExecutor, CallRequest, CallYield
from wf_mcp.execution.calls.rendering import from_worker, storable
from wf_mcp.execution.calls.yielding import yielding_executor
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.sources.protocol import CallDeferred, CapabilitySource


def durable_executor(
    sources: Mapping[str, CapabilitySource],
    *,
    max_bytes: int,
    clock: Clock,
    cache: CallCache | None = None,
    scope: str | None = None,
    runner: DeploymentRunner | None = None,
) -> CallExecutor:
    """Carry out every disposition. A call that is put off is made by `exec_sync` when it is its turn."""
    executor = _ByDisposition(in_process_executor(sources, max_bytes=max_bytes), isolated_executor(runner))
    return executor if cache is None else caching_executor(cache, executor, clock=clock, scope=scope)


class _ByDisposition:
    def __init__(self, here: CallExecutor, isolated: CallExecutor) -> None:
        self._here = here
        self._isolated = isolated
        self._outside = yielding_executor()

    async def exec_sync(self, request: CallRequest) -> CallComplete:
        target = request.target
        if isinstance(bare(request.disposition), RunIsolated):
            ended = await decorated(self._isolated.exec_sync, request)
            ended = replace(ended, result=from_worker(ended.result))
        else:
            ended = await decorated(self._here.exec_sync, request)
        return storable(ended, target.capability, read_only=target.read_only)

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        match bare(request.disposition):
            case Defer():
                return await self._outside.exec_async(request)
            case RunIsolated():
                return await self._isolated.exec_async(request)
            case _:
                try:
                    return await self.exec_sync(request)
                except CallDeferred as deferred:
                    return CallYield(request.token, kind="callee", reason=deferred.reason)
