"""What the outside says of a call that waits: its result, that it failed, or that it may be carried out.

A call belongs to a run, where it is in doubt or was put off, or to a session. Its token says whose it is.
"""

from dataclasses import replace
from typing import NamedTuple

import anyio

from wf_artifacts.calls.models import Delivery, DeliveryKind
from wf_artifacts.errors import CallNotFound, RunNotFound, StoreUnavailable
from wf_core.calls.contract import ERROR_OUTCOME
from wf_core.calls.results import read_result, result_to_json, text_result
from wf_core.errors import CallAlreadyCompleted, CallExpired, PersonRequired, StateError, WfError
from wf_core.ids import RunId, SessionId, is_session_id, read_call_token
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Settlement
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.execution.live import Progress
from wf_mcp.execution.sessions.views import PendingCall as WaitingCall
from wf_mcp.operations import callees, session_summaries, summaries
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_wait, storable
from wf_mcp.operations.models import PendingCall, RunSummary
from wf_mcp.operations.runs import waited
from wf_mcp.operations.session_models import SessionSummary

MOST_SHOWN = 20
"""How many calls that still wait are told where one is answered: that costs the same however many there are."""

_REFUSED = "It failed, or was refused; no reason was given."


async def inspect_call(app: App, *, token: str, caller: Caller = LOCAL_MODEL) -> PendingCall:
    """Show a call that waits: its arguments, since when, and for what.

    Raises:
        CallNotFound, CallAlreadyCompleted: no such call waits.
    """
    if not _is_of_run(token):
        session_id = await _session_of(app, token, caller)
        view = await app.sessions.view(session_id, principal=caller.principal)
        waiting = [call for call in view.pending if call.token == token]
        if not waiting:
            raise _ended(token, f"inspect_session(session_id={session_id!r}) shows where the session stands.")
        return session_summaries.pending_call(waiting[0])
    return (await _find(app, token, caller)).waiting


async def complete_call(
    app: App,
    *,
    token: str,
    result: object,
    outcome: str | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary | SessionSummary:
    """Deliver the result of a call. It is stored when this returns; the first that was delivered stays.

    `outcome` is one of the capability's, of a run; without it `ok`, or the only one. A run goes on, and is waited for
    up to `wait_seconds`. A session goes on by itself if it is told to.

    Raises:
        CallNotFound, CallAlreadyCompleted, CallAnswered, CallExpired: no such call waits (any more).
        WrongAnswerKind: it waits for something else: an approval is no result.
        PersonRequired: only a person says what became of a call in doubt.
        InvalidResult, TooLarge: the capability cannot have given that.
        InvalidArgument: `outcome` is told of a call of a session.
        RunBlocked, RunBusy, StoreFull, StoreUnavailable: the word was not taken.
    """
    given = storable(app, "result", result)
    if not _is_of_run(token):
        _refuse_outcome(outcome)
        return await _deliver(app, token, "result", result_to_json(read_result(given)), caller)
    said = await _usual_outcome(app, token, caller) if outcome is None else outcome
    settlement = Settlement("completed", said, given)
    return await _settle(app, token, settlement, wait_seconds, caller, progress)


async def fail_call(
    app: App,
    *,
    token: str,
    error: str | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary | SessionSummary:
    """Say that a call failed, or refuse it; a step fails or takes its route `error`, a model is told.

    Raises:
        WfError: as `complete_call`.
    """
    storable(app, "error", error)
    said = None if error is None else app.redactor.text(error)
    if not _is_of_run(token):
        failed = result_to_json(text_result(said or _REFUSED, error=True))
        return await _deliver(app, token, "result", failed, caller)
    return await _settle(app, token, Settlement("failed", message=said), wait_seconds, caller, progress)


async def retry_call(
    app: App,
    *,
    token: str,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary | SessionSummary:
    """Let a call in doubt be made again, whether or not it was carried out; or try one again that nobody could make.

    Raises:
        WfError: as `complete_call`.
    """
    if not _is_of_run(token):
        return await _deliver(app, token, "retry", None, caller)
    return await _settle(app, token, Settlement("retry"), wait_seconds, caller, progress)


async def approve_call(
    app: App,
    *,
    token: str,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary | SessionSummary:
    """Allow a call that waits for a person's approval. A run carries it out at once, a session when it goes on.

    Raises:
        WfError: as `complete_call`.
    """
    if not _is_of_run(token):
        return await _deliver(app, token, "approval", None, caller)
    return await _settle(app, token, Settlement("approved"), wait_seconds, caller, progress)


async def _deliver(
    app: App, token: str, kind: DeliveryKind, result: JsonValue, caller: Caller
) -> RunSummary | SessionSummary:
    callee = await _callee_of_session(app, token, caller)
    delivery = Delivery(
        kind=kind,
        result=result,
        channel=caller.channel,
        principal=caller.principal,
        delivered_at=app.clock.now(),
    )
    session_id = await app.sessions.deliver(token, delivery, principal=caller.principal, by_model=not caller.person)
    await _end_callee(app, callee)
    try:
        view = await app.sessions.view(session_id, principal=caller.principal, most=MOST_SHOWN)
    except (StateError, StoreUnavailable) as error:
        error.hint = f"What was said of the call is stored. {error.hint or ''}".rstrip()
        raise
    return session_summaries.summary(await session_summaries.detail(app, view))


def _refuse_outcome(outcome: str | None) -> None:
    """Refuse what a model would not be told: to it, a call has a result or has failed."""
    if outcome not in {None, "ok"}:
        raise InvalidArgument(
            f"A call of a session has no outcome {outcome!r}; only calls of runs have outcomes.",
            hint="Leave `outcome` out, or say that the call failed: fail_call, wf calls fail.",
        )


async def _settle(
    app: App, token: str, settlement: Settlement, wait_seconds: float, caller: Caller, progress: Progress | None
) -> RunSummary:
    check_wait(wait_seconds)
    run_id, call_id, waiting = await _find(app, token, caller)
    callee = await _callee(app, run_id, waiting, caller)
    _require_person(waiting, settlement, caller)
    said = settlement if caller.person else replace(settlement, by="outside")
    try:
        handle = await app.runs.settle(run_id, call_id, said)
    except CallExpired:
        # The run is told as well, by whoever came too late.
        await app.runs.expire(run_id)
        raise
    if settlement.kind != "retry":
        await _end_callee(app, callee)
    told = await waited(app, handle, caller, wait_seconds, progress)
    if waiting.awaits != "callee" or app.callees is None:
        return told
    if settlement.kind == "retry":
        with anyio.move_on_after(wait_seconds):
            await app.callees.ask(run_id)
            await app.runs.wait(app.runs.handle(run_id), seconds=wait_seconds, progress=progress)
    await app.callees.ending.callees_of(run_id)
    return await summaries.summarize(app, await app.stores.runs.load(run_id, principal=caller.principal))


async def _callee(app: App, owner: str, waiting: PendingCall, caller: Caller) -> SessionId | RunId | None:
    """Name the callee that a call waits for, and that ends where a person answers in its place.

    Raises:
        PersonRequired: it is a model that would answer: a callee may be asking a person, and answers by itself.
    """
    if waiting.awaits != "callee":
        return None
    try:
        callee = await callees.callee_of(app, owner, waiting)
    except WfError:
        callee = None  # it cannot be read; its caller is not to wait for it for ever
    if caller.person:
        return callee
    shown = "inspect_session(session_id" if is_session_id(callee or "") else "inspect_run(run_id"
    there = "list_pending()" if callee is None else f'{shown}="{callee}")'
    raise PersonRequired(
        f"The call {waiting.token} waits for {waiting.capability}, whose own end answers it. Only a person may answer "
        "in its place.",
        hint=f"{there} says what that waits for: answer it there. In its place: ask the user to run "
        f"wf calls show {waiting.token}",
        details={"token": waiting.token, "callee": callee},
    )


async def _callee_of_session(app: App, token: str, caller: Caller) -> SessionId | RunId | None:
    """Do the same of a call of a session."""
    found = await app.stores.continuations.load(token, principal=caller.principal, now=app.clock.now())
    if found.state != "open":
        return None
    waiting = session_summaries.pending_call(WaitingCall.of(found.continuation))
    return await _callee(app, found.continuation.session_id, waiting, caller)


async def _end_callee(app: App, callee: SessionId | RunId | None) -> None:
    if callee is not None and app.callees is not None:
        await app.callees.ending.instead_of(callee)


def _require_person(waiting: PendingCall, settlement: Settlement, caller: Caller) -> None:
    """Refuse what a model may not say. What is no answer at all to this call is refused as that."""
    if caller.person:
        return
    if waiting.awaits == "in_doubt":
        text = (
            f"Only a person may say what became of the call {waiting.token}: whether it was carried out is not known."
        )
    elif waiting.awaits == "approval" and settlement.kind != "completed":
        text = f"Only a person may decide about the call {waiting.token}."
    else:
        return
    hint = f"Ask the user to run: wf calls show {waiting.token}"
    raise PersonRequired(text, hint=hint, details={"token": waiting.token})


async def _usual_outcome(app: App, token: str, caller: Caller) -> str:
    """Give the outcome of a result that names none."""
    run_id, _, waiting = await _find(app, token, caller)
    environment = await app.stores.runs.load_environment(run_id)
    outcomes = environment.capabilities[waiting.capability].contract.outcomes
    good = [outcome for outcome in outcomes if outcome != ERROR_OUTCOME]
    return good[0] if len(good) == 1 else "ok"


async def _session_of(app: App, token: str, caller: Caller) -> SessionId:
    waiting = await app.stores.continuations.load(token, principal=caller.principal, now=app.clock.now())
    return SessionId(waiting.continuation.session_id)


def _is_of_run(token: str) -> bool:
    return read_call_token(token) is not None


class _Found(NamedTuple):
    """A call of a run that waits."""

    run_id: RunId
    call_id: str
    waiting: PendingCall


async def _find(app: App, token: str, caller: Caller) -> _Found:
    named = read_call_token(token)
    if named is None:
        raise CallNotFound(token)
    run_id, call_id = named
    try:
        record = await app.stores.runs.load(run_id, principal=caller.principal)
    except RunNotFound as error:
        raise CallNotFound(token) from error
    for waiting in summaries.pending_calls(record):
        if waiting.token == token:
            return _Found(run_id, call_id, waiting)
    # Each step makes one call at most, so a run never made one with a higher number.
    if int(call_id.removeprefix("c")) > record.steps_executed:
        raise CallNotFound(token)
    raise _ended(token, f"inspect_run(run_id={record.run_id!r}) shows where the run stands.")


def _ended(token: str, where: str) -> CallAlreadyCompleted:
    return CallAlreadyCompleted(
        f"The call {token} does not wait for anybody: it has ended, or goes on.",
        hint=f"What was told first stays. {where}",
        details={"token": token},
    )
