"""Calls that this process makes, with the source that they are pinned to."""

import logging
from collections.abc import Mapping
from typing import Any, cast

from wf_core import CallContext, jsonvalue
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue
from wf_mcp.execution.calls.protocol import CallComplete, CallExecutor, CallRequest, CallYield
from wf_mcp.execution.calls.rendering import answered, failed, failure
from wf_mcp.sources.protocol import CallDeferred, CallFailed, CapabilitySource, SourceNotFound

logger = logging.getLogger(__name__)


def in_process_executor(sources: Mapping[str, CapabilitySource], *, max_bytes: int) -> CallExecutor:
    """Make each call here. One that its callee puts off yields."""
    return _InProcess(sources, max_bytes)


class _InProcess:
    def __init__(self, sources: Mapping[str, CapabilitySource], max_bytes: int) -> None:
        self._sources = sources
        self._max_bytes = max_bytes

    async def exec_sync(self, request: CallRequest) -> CallComplete:
        target = request.target
        source = self._sources.get(target.source)
        if source is None:
            return failure(CallFailed.before(SourceNotFound(target.source, self._sources)), read_only=target.read_only)
        arguments = cast("Mapping[str, JsonValue]", request.call.arguments)
        try:
            answer = await source.call(target.name, arguments, _context(request))
        except CallDeferred:
            raise
        except CallFailed as error:
            return failure(error, read_only=target.read_only)
        except Exception:
            logger.exception("The source %s raised what no source may", target.source)
            message = f"{target.capability} failed inside wf-mcp."
            return failed("internal_error", message, executed=True, read_only=target.read_only)
        try:
            size = jsonvalue.size(answer.output)
        except NotJson as bad:
            message = f"The result of {target.capability} is not JSON: {bad.reason}."
            return failed("output_invalid", message, executed=True, read_only=target.read_only)
        if size > self._max_bytes:
            message = self._too_large(target.capability, size)
            return failed("too_large", message, executed=True, read_only=target.read_only)
        return answered(answer, target.outcomes)

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        try:
            return await self.exec_sync(request)
        except CallDeferred as deferred:
            return CallYield(request.token, kind="callee", reason=deferred.reason)

    def _too_large(self, capability: str, size: int) -> str:
        return f"The result of {capability} has {size} bytes as compact JSON; at most {self._max_bytes} are taken."


def _context(request: CallRequest) -> CallContext:
    context: dict[str, Any] = {
        "run_id": request.owner_id,
        "step_id": request.call.name,
        "path": (request.context.turn_id or "", request.call_id),
        "attempt": request.attempt,
        "idempotency_key": request.idempotency_key,
        "token": request.token,
        "put_off": request.put_off,
    }
    return CallContext(**context)
