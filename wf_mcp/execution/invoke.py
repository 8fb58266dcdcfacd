"""One call of a capability: found by the pin alone, bounded in time and size.

Whether a failure is repeated is decided by the kernel; here it is only said what happened.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

import anyio

from wf_artifacts.runs.environment import PinnedCapability
from wf_core import CallContext, jsonvalue
from wf_core.calls.capability import idempotency_key
from wf_core.errors import NotJson
from wf_core.ids import call_token
from wf_core.runtime import CallFailure, Invocation
from wf_mcp.sources.protocol import CallDeferred, CallFailed, CallResult, CapabilitySource, SourceNotFound

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Deferred:
    """A call that waits now: for its callee, which goes on elsewhere, or for a runner, of which there is none here."""

    awaits: Literal["callee", "isolated"]
    reason: str


async def invoke(
    sources: Mapping[str, CapabilitySource],
    pinned: PinnedCapability,
    invocation: Invocation,
    *,
    run_id: str,
    max_bytes: int,
    put_off: bool = False,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> CallResult | CallFailure | Deferred:
    """Carry out `invocation` with the source that the run is pinned to, whatever bears its logical name today.

    `put_off` says that its callee has put it off before, and is only asked again. `ready` is awaited right before the
    source is called; what it raises is raised, and nothing is called.
    A time limit ends the attempt; whether it executed is then unknown. Cancellation goes through to the source.
    """
    source = sources.get(pinned.source)
    if source is None:
        return _failure(CallFailed.before(SourceNotFound(pinned.source, sources)))
    context = CallContext(
        run_id=run_id,
        step_id=invocation.step_id,
        path=invocation.path,
        attempt=invocation.attempt,
        idempotency_key=idempotency_key(run_id, invocation.call_id),
        token=call_token(run_id, invocation.call_id),
        put_off=put_off,
    )
    seconds = invocation.timeout_seconds
    if ready is not None:
        await ready()
    with nullcontext() if seconds is None else anyio.move_on_after(seconds):
        try:
            result = await source.call(pinned.name, invocation.input, context)
        except CallFailed as failed:
            return _failure(failed)
        except CallDeferred as deferred:
            return Deferred("callee", deferred.reason)
        except Exception:
            logger.exception("The source %s raised what no source may", pinned.source)
            return CallFailure("internal_error", f"{invocation.capability} failed inside wf-mcp.", executed=True)
        return _bounded(result, invocation, max_bytes)
    message = f"{invocation.capability} did not answer within {seconds:g} seconds."
    return CallFailure("timeout", message, executed=True)


def _failure(failed: CallFailed) -> CallFailure:
    return CallFailure(failed.code, failed.message, executed=failed.executed, details=failed.details)


def _bounded(result: CallResult, invocation: Invocation, max_bytes: int) -> CallResult | CallFailure:
    try:
        size = jsonvalue.size(result.output)
    except NotJson as bad:
        message = f"The result of {invocation.capability} is not JSON: {bad.reason}."
        return CallFailure("output_invalid", message, executed=True, details=bad.details)
    if size <= max_bytes:
        return result
    message = f"The result of {invocation.capability} has {size} bytes as compact JSON; at most {max_bytes} are taken."
    return CallFailure("too_large", message, executed=True, details={"bytes": size, "max_bytes": max_bytes})
