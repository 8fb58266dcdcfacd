"""Calls that are always put off: somebody outside carries them out, or allows them."""

from wf_core.calls.policy import Defer, RunIsolated, bare
from wf_mcp.execution.calls.protocol import CallComplete, CallExecutor, CallRequest, CallYield
from wf_mcp.execution.calls.rendering import failed


def yielding_executor() -> CallExecutor:
    """Put every call off."""
    return _Yielding()


class _Yielding:
    async def exec_sync(self, request: CallRequest) -> CallComplete:
        message = f"{request.target.capability} is carried out outside of this program."
        return failed("not_supported", message, executed=False)

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        match bare(request.disposition):
            case Defer(reason, approval, expires_seconds):
                kind = "approval" if approval else "deferred"
                return CallYield(request.token, kind=kind, reason=reason, expires_seconds=expires_seconds)
            case RunIsolated():
                return CallYield(request.token, kind="isolated", reason="isolated")
            case _:
                return CallYield(request.token, reason="put off")
