"""Calls that a worker makes outside of this process, however its runner starts it."""

from wf_core.calls.envelope import build_request
from wf_core.calls.policy import RunIsolated, WithTimeout, bare, decorators
from wf_core.jsonvalue import dumps
from wf_mcp.execution.calls.protocol import CallComplete, CallExecutor, CallRequest, CallYield
from wf_mcp.execution.calls.rendering import failed
from wf_mcp.execution.calls.yielding import yielding_executor
from wf_mcp.isolation.protocol import DeploymentRunner, IsolationError

NO_RUNNER = "no runner"
"""Why an isolated call waits that nobody here can carry out."""


def isolated_executor(runner: DeploymentRunner | None) -> CallExecutor:
    """Make each call by `runner` when it is its turn, and put it off until then."""
    return _Isolated(runner)


class _Isolated:
    def __init__(self, runner: DeploymentRunner | None) -> None:
        self._runner = runner
        self._yielding = yielding_executor()

    async def exec_sync(self, request: CallRequest) -> CallComplete:
        target = request.target
        if self._runner is None:
            message = f"There is no runner for {target.capability}, which is to be carried out in isolation."
            return failed("runner_missing", message, executed=False)
        disposition = bare(request.disposition)
        isolated = disposition if isinstance(disposition, RunIsolated) else RunIsolated()
        limits = [one.seconds for one in decorators(request.disposition) if isinstance(one, WithTimeout)]
        try:
            result = await self._runner.execute(
                isolated.spec,
                dumps(build_request(request.token, request.call, request.context, isolated)),
                request.token,
                capability=target.capability,
                timeout_seconds=min(limits, default=None),
            )
        except IsolationError as error:
            return failed(error.code, error.message, executed=error.executed, read_only=target.read_only)
        return CallComplete(result, "error" if result.error else "ok")

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        put_off = await self._yielding.exec_async(request)
        if isinstance(put_off, CallYield) and self._runner is None:
            return CallYield(put_off.token, put_off.cache_key, "isolated", NO_RUNNER)
        return put_off
