"""Calls that wait for a word from outside: putting one off, what may be said of it, and that its time has come.

Whether a policy puts a call off is decided where its step begins (`nodes`); here it is the driver that could not carry
it out. Which calls are in doubt is `recovery`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from wf_core.calls.contract import CAPABILITY_ERROR
from wf_core.errors import CallExpired, InvalidResult, NotJson, PersonRequired, StepFailed, WrongAnswerKind
from wf_core.runtime.calls import in_flight, pending
from wf_core.runtime.linking import link
from wf_core.runtime.nodes import complete_call, give_up, judge, known_effects, may_have_executed
from wf_core.runtime.program import NodeCode, Program
from wf_core.runtime.tree import Turn, admit, suspend
from wf_core.runtime.work import CallFailure, Settlement
from wf_core.state import Awaited, Delayed, Frame, Pending, RunState, Settled

_FITTING: Final[Mapping[Awaited, frozenset[str]]] = {
    "deferred": frozenset({"completed"}),
    "approval": frozenset({"approved"}),
    "isolated": frozenset({"completed", "retry"}),
    "callee": frozenset({"completed", "retry"}),
    "in_doubt": frozenset({"completed", "retry"}),
}
"""What each waits for. That it failed may be said of all: who is asked may refuse."""

_WAITS_FOR: Final[Mapping[Awaited, str]] = {
    "deferred": "its result",
    "approval": "the approval of a person, after which it is carried out here",
    "isolated": "its result, or the word to try it again",
    "callee": "its result, or the word to ask its callee again",
    "in_doubt": "its result, or the word to carry it out again",
}

_PERSONS: Final[frozenset[Awaited]] = frozenset({"approval", "in_doubt", "callee"})
"""Of these only a person says anything; and of one that waits for its callee, that."""


def put_off(
    program: Program,
    run: RunState,
    call_id: str,
    *,
    awaits: Literal["isolated", "callee"],
    reason: str,
    now: datetime,
) -> None:
    """Let a call in flight wait: there is nobody to carry it out, or its callee goes on elsewhere.

    Raises:
        UnknownCall: the call is not in flight.
    """
    frame, code, call = in_flight(program, run, call_id)
    del run.calls[call_id]
    if awaits == "isolated":
        call.attempt -= 1  # nothing was called
    else:
        call.side_effects = known_effects(code, call, executed=True)
    suspend(run, frame, Pending(call, awaits, reason, now))


def settle(program: Program, run: RunState, call_id: str, settlement: Settlement, *, now: datetime) -> None:
    """Take what is said of a call that waits.

    Raises:
        UnknownCall, CallAlreadyCompleted: the call waits for nobody.
        CallExpired: its time has come; `expire` makes that known to the run.
        WrongAnswerKind: it waits for something else.
        PersonRequired: only a person may say that.
        InvalidResult: the result is none that the capability could have given.
        In all of these cases nothing was changed.
    """
    link(run, program)
    frame, code, waiting = pending(run, call_id)
    _require_fitting(waiting, settlement, now)
    if settlement.kind == "completed":
        _require_result(code, settlement)
    call = waiting.call
    turn = Turn(run, now)
    run.status = "running"
    run.expiries.pop(frame.id, None)
    call.settled = Settled(settlement.kind, now, settlement.by)
    match settlement.kind:
        case "completed":
            complete_call(turn, frame, code, call, settlement.outcome, settlement.output)
        case "failed":
            message = settlement.message or _UNTOLD.get(waiting.awaits, "The call failed.")
            executed = may_have_executed(waiting.awaits)
            give_up(turn, frame, code, call, CallFailure(CAPABILITY_ERROR, message, executed=executed))
        case "retry" if waiting.awaits == "callee":
            pass  # it began, and is not to begin again: whoever drives the run asks its callees when it rests
        case "retry" | "approved":
            frame.activity = Delayed(now, call)
            admit(run, frame)


_UNTOLD: Final[Mapping[Awaited, str]] = {
    "approval": "A person refused the call.",
    "in_doubt": "A person says that the call failed.",
}


def expire(program: Program, run: RunState, *, now: datetime) -> None:
    """Let the steps fail whose calls waited too long. A run that is over stays as it is."""
    link(run, program)
    expire_due(Turn(run, now))


def expire_due(turn: Turn) -> None:
    """As `expire`, of a run that is linked."""
    run = turn.run
    due = sorted((expires_at, number) for number, expires_at in run.expiries.items() if expires_at <= turn.now)
    for _, number in due:
        if number in run.expiries:  # else an earlier one has ended it
            _expire(turn, run.frames[number])


def _expire(turn: Turn, frame: Frame) -> None:
    waiting = frame.activity
    if not isinstance(waiting, Pending):
        raise AssertionError("what expires is a call that waits")
    _, code, _ = pending(turn.run, waiting.call.id)
    turn.run.status = "running"
    del turn.run.expiries[frame.id]
    waiting.call.settled = Settled("expired", turn.now, "time")
    failure = CallFailure(
        CallExpired.code,
        f"Nobody answered the call of {code.capability} in time.",
        executed=may_have_executed(waiting.awaits),
    )
    give_up(turn, frame, code, waiting.call, failure)


def _require_fitting(waiting: Pending, settlement: Settlement, now: datetime) -> None:
    call = waiting.call
    details = {"call_id": call.id, "awaits": waiting.awaits, "given": settlement.kind}
    if waiting.expires_at is not None and now >= waiting.expires_at:
        raise CallExpired(
            f"The call {call.id} of {call.capability} has expired.",
            hint="Nothing can be said of it any more; its step fails.",
            details={"call_id": call.id},
        )
    # A callee answers the call that waits for it. Whoever may start a run may say which call it answers.
    misplaced = settlement.by == "callee" and waiting.awaits != "callee"
    if misplaced or (settlement.kind != "failed" and settlement.kind not in _FITTING[waiting.awaits]):
        raise WrongAnswerKind(
            f"The call {call.id} of {call.capability} waits for {_WAITS_FOR[waiting.awaits]}.",
            hint="wf calls show TOKEN says what can be said of it; nothing was changed.",
            details=details,
        )
    if settlement.by == "outside" and waiting.awaits in _PERSONS:
        raise PersonRequired(
            f"Only a person may say something of the call {call.id} of {call.capability}.",
            hint="Ask the user to run: wf calls list",
            details=details,
        )


def _require_result(code: NodeCode, settlement: Settlement) -> None:
    try:
        judge(code, settlement.outcome, settlement.output)
    except (NotJson, StepFailed) as bad:
        raise InvalidResult(
            f"This cannot be the result of {code.capability}: {bad.message}",
            hint="Give a result that fits the capability's outcomes and output schema; nothing was changed.",
            details=bad.details,
        ) from bad
