"""What a held session and the outside tell each other through the store of continuations.

A continuation is stored before the session says that it waits, and its token follows from the session's state: a crash
in between repeats it, and what was delivered to it in the meantime is kept.
"""

import logging

from wf_artifacts.calls.models import ContinuationKind, Delivery, Waiting
from wf_artifacts.errors import CallNotFound
from wf_core.calls.policy import Defer, bare, decorators
from wf_core.calls.results import ToolResult, read_result, result_to_json, text_result
from wf_core.calls.tracked import TrackedCall
from wf_core.errors import WrongAnswerKind
from wf_core.sessions import (
    Approved,
    Delivered,
    Retried,
    Session,
    awaited,
    check_delivery,
    complete,
    defer,
    doubt,
    expire,
    open_calls,
    recover,
    token_of,
    wake_session,
)
from wf_core.sessions import Delivery as Given
from wf_core.sessions.applying import NOT_ANSWERED
from wf_mcp.execution.calls.caching import CachedCalls
from wf_mcp.execution.calls.protocol import CallYield
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.making import continuation_of, key_of, tool_of
from wf_mcp.execution.sessions.means import SessionMeans

logger = logging.getLogger(__name__)


def open_to_outside(session: Session) -> dict[str, TrackedCall]:
    """Give the calls that the outside can answer, by token, in call order."""
    waiting = (call for call in open_calls(session) if call.state in {"deferred", "in_doubt"})
    return {call.continuation_token: call for call in waiting if call.continuation_token is not None}


async def put_off(held: HeldSession, call: TrackedCall, how: CallYield) -> None:
    """Leave a ready call to the outside, who can answer it from now on. That it waits is the caller's to store."""
    await held.means.continuations.put(continuation_of(held, call, how.kind, how))
    defer(held.session, call.id, token=how.token, reason=how.reason)


async def doubt_of(held: HeldSession, call: TrackedCall, reason: str) -> None:
    """Ask for a word on a deferred call whose callee is gone. That it is in doubt is the caller's to store."""
    doubt(held.session, call.id, reason)
    await announce(held, call, "in_doubt")


async def begun_elsewhere(means: SessionMeans, session: Session) -> set[str]:
    """Give the calls, by id, that have callees of their own already: nobody else is to call these a second time."""
    begun: set[str] = set()
    for call in open_calls(session):
        if tool_of(session, call).read_only:
            continue
        waits = call.state == "deferred" and _kind(call) == "callee"
        if waits or (call.state == "ready" and await _is_at_callee(means, token_of(session, call.id))):
            begun.add(call.id)
    return begun


async def announce(held: HeldSession, call: TrackedCall, kind: ContinuationKind) -> Waiting:
    """Let the outside answer a call that does not wait for it yet, or not in this way; give what is stored of it."""
    return await held.means.continuations.put(continuation_of(held, call, kind))


async def withdraw(held: HeldSession, call: TrackedCall) -> bool:
    """Let nobody outside answer a call any more, because it is carried out here; False where somebody has.

    To be done before it begins, and after it is stored that it may: an approval is used up by this.
    """
    token = call.continuation_token
    if token is None or await held.means.continuations.close(token, now=held.means.clock.now()):
        return True
    # Where its continuation is gone, nobody outside can have answered, or ever will.
    return not await _is_stored(held, token)


async def settle(held: HeldSession, call: TrackedCall, token: str, result: ToolResult, *, channel: str) -> None:
    """Deliver to a call of our own as the outside would; where somebody was quicker, that stays."""
    now = held.means.clock.now()
    delivery = Delivery(
        kind="result",
        result=result_to_json(result),
        channel=channel,
        principal=held.record.principal,
        delivered_at=now,
    )
    if await held.means.continuations.deliver(token, delivery, principal=None, now=now) == "unknown":
        # Its continuation is gone. What is known now is not to be lost with it.
        await announce(held, call, _kind(call))
        await held.means.continuations.deliver(token, delivery, principal=None, now=now)


async def complete_delivered(held: HeldSession, call: TrackedCall, token: str) -> None:
    """Complete a ready call with what was delivered to it, or with the news that nobody answered in time."""
    waiting = await held.means.continuations.load(token, principal=None, now=held.means.clock.now())
    if waiting.delivery is None:
        complete(held.session, call.id, text_result(NOT_ANSWERED, error=True))
    else:
        complete(held.session, call.id, read_result(waiting.delivery.result))


async def take_over(held: HeldSession) -> None:
    """Take over the calls that ran when their process died, and ask for a word on those in doubt."""
    recovered = recover(held.session)
    doubtful = set(recovered.in_doubt)
    for call in open_calls(held.session):
        if call.id in doubtful:
            await announce(held, call, "in_doubt")


async def restore(held: HeldSession) -> None:
    """Store the continuations of calls that wait where they are missing: the session came from elsewhere."""
    for token, call in open_to_outside(held.session).items():
        if not await _is_stored(held, token):
            await announce(held, call, _kind(call))


async def has_come(held: HeldSession) -> bool:
    """Tell whether anything was delivered to the session's calls, or has expired, that it has not taken."""
    calls = open_to_outside(held.session)
    return bool(calls and await held.means.continuations.deliveries(calls, now=held.means.clock.now()))


async def collect(held: HeldSession) -> bool:
    """Take what was delivered to the session's calls, and note what has expired; tell whether there was anything.

    Each call takes what was delivered first, in call order. Nothing of it is stored by this.
    """
    calls = open_to_outside(held.session)
    if not calls:
        return False
    found = await held.means.continuations.deliveries(calls, now=held.means.clock.now())
    for waiting in found:
        await _take(held, calls[waiting.token], waiting)
    return bool(found)


async def find_cached(held: HeldSession) -> None:
    """Answer the deferred calls whose results are in the cache by now."""
    cached = CachedCalls(held.means.cache, held.means.clock)
    for call in open_to_outside(held.session).values():
        kept = call.state == "deferred" and decorators(call.policy.disposition)
        key = key_of(held, call) if kept else None
        result = await cached.find(key)
        if result is not None and call.continuation_token is not None:
            await settle(held, call, call.continuation_token, result, channel="cache")


async def _is_stored(held: HeldSession, token: str) -> bool:
    try:
        await held.means.continuations.load(token, principal=None, now=held.means.clock.now())
    except CallNotFound:
        return False
    return True


async def _is_at_callee(means: SessionMeans, token: str) -> bool:
    """Tell whether it is stored that a call was made, and may be put off by its callee."""
    try:
        waiting = await means.continuations.load(token, principal=None, now=means.clock.now())
    except CallNotFound:
        return False
    return waiting.continuation.kind == "callee"


async def _take(held: HeldSession, call: TrackedCall, waiting: Waiting) -> None:
    if waiting.state == "expired":
        expire(held.session, call.id)
        return
    given = _given(waiting)
    try:
        check_delivery(call, given)
    except WrongAnswerKind as error:
        # It came past the door, or at the very moment at which the call came to wait for another kind.
        logger.warning("What was delivered to the call %s does not fit: %s", call.id, error)
        if await withdraw(held, call):
            await announce(held, call, _kind(call))
            return
        given = Delivered(text_result(f"The call was not carried out: {error.message}", error=True))
    wake_session(held.session, [(waiting.token, given)])
    if isinstance(given, Delivered):
        cached = CachedCalls(held.means.cache, held.means.clock)
        await cached.keep(waiting.continuation.cache_key, given.result)


def _given(waiting: Waiting) -> Given:
    delivery = waiting.delivery
    match None if delivery is None else delivery.kind:
        case "approval":
            return Approved()
        case "retry":
            return Retried()
        case _:
            return Delivered(read_result(None if delivery is None else delivery.result))


def _kind(call: TrackedCall) -> ContinuationKind:
    match awaited(call):
        case "word":
            return "in_doubt"
        case "approval":
            return "approval"
        case "isolation":
            return "isolated"
        case _:
            by_policy = isinstance(bare(call.policy.disposition), Defer) and not call.released
            return "deferred" if by_policy else "callee"
