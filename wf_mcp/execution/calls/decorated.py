"""Limits and repetitions around a call, as its policy decorates it. The outermost decoration is carried out first."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import anyio

from wf_core.calls.policy import Decorator, WithRetries, WithTimeout, decorators
from wf_mcp.execution.calls.protocol import CallComplete, CallRequest
from wf_mcp.execution.calls.rendering import failed

FIRST_DELAY_SECONDS = 0.1
LONGEST_DELAY_SECONDS = 10.0


Attempt = Callable[[CallRequest], Awaitable[CallComplete]]
"""Carries a call out once."""


async def decorated(attempt: Attempt, request: CallRequest) -> CallComplete:
    """Carry a call out with `attempt`, within its time limits, as often as it may be repeated.

    Labels change nothing; what is cached is the business of `caching`.
    """
    act = attempt
    for decorator in reversed(decorators(request.disposition)):
        act = _around(decorator, act)
    return await act(request)


def _around(decorator: Decorator, inner: Attempt) -> Attempt:
    match decorator:
        case WithTimeout(seconds):
            return partial(_limited, inner, seconds)
        case WithRetries(times):
            return partial(_repeated, inner, times)
        case _:
            return inner


async def _limited(inner: Attempt, seconds: float, request: CallRequest) -> CallComplete:
    with anyio.move_on_after(seconds):
        return await inner(request)
    message = f"{request.target.capability} did not answer within {seconds:g} seconds."
    return failed("timeout", message, executed=True, read_only=request.target.read_only)


async def _repeated(inner: Attempt, times: int, request: CallRequest) -> CallComplete:
    ended = await inner(request)
    for again in range(times):
        if not ended.result.error or (ended.executed and not request.target.repeatable):
            break
        await anyio.sleep(min(FIRST_DELAY_SECONDS * 2**again, LONGEST_DELAY_SECONDS))
        ended = await inner(replace(request, attempt=request.attempt + again + 1))
    return ended
