"""Going on after the process that advanced a run is gone, and what a person says of calls that were in flight then.

A call in flight either may be repeated without asking, and is, or it is in doubt: whether it executed is known to
nobody here, so its step waits for a person, as it would for the answer to a question.
"""

from datetime import datetime

from wf_core.calls.contract import CAPABILITY_ERROR
from wf_core.errors import InvalidResult, NotJson, StepFailed
from wf_core.runtime.calls import in_doubt, in_flight
from wf_core.runtime.linking import link
from wf_core.runtime.nodes import complete_call, give_up, judge, known_effects
from wf_core.runtime.program import NodeCode, Program
from wf_core.runtime.tree import Turn, admit, rest
from wf_core.runtime.work import CallFailure, Settlement
from wf_core.state import Delayed, Doubtful, RunState, Settled


def recover(program: Program, run: RunState, *, now: datetime) -> None:
    """Take over a run whose process died: each call that was in flight begins again at once, or is in doubt."""
    link(run, program)
    for call_id in list(run.calls):
        frame, code, call = in_flight(program, run, call_id)
        del run.calls[call_id]
        call.side_effects = known_effects(code, call, executed=True)
        if code.contract.hints.repeatable:
            frame.activity = Delayed(now, call)
            run.delays[frame.id] = now
        else:
            frame.activity = Doubtful(call)
            rest(run, frame)


def settle(program: Program, run: RunState, call_id: str, settlement: Settlement, *, now: datetime) -> None:
    """Take a person's word about a call in doubt.

    Raises:
        UnknownCall, CallAlreadyCompleted: the call is not in doubt.
        InvalidResult: the result is none that the capability could have given; nothing was changed.
    """
    link(run, program)
    frame, code, call = in_doubt(run, call_id)
    if settlement.kind == "completed":
        _require_result(code, settlement)
    turn = Turn(run, now)
    run.status = "running"
    call.settled = Settled(settlement.kind, now)
    match settlement.kind:
        case "completed":
            complete_call(turn, frame, code, call, settlement.outcome, settlement.output)
        case "failed":
            message = settlement.message or "A person says that the call failed."
            give_up(turn, frame, code, call, CallFailure(CAPABILITY_ERROR, message))
        case "retry":
            frame.activity = Delayed(now, call)
            admit(run, frame)


def _require_result(code: NodeCode, settlement: Settlement) -> None:
    try:
        judge(code, settlement.outcome, settlement.output)
    except (NotJson, StepFailed) as bad:
        raise InvalidResult(
            f"This cannot be the result of {code.capability}: {bad.message}",
            hint="Give a result that fits the capability's outcomes and output schema; nothing was changed.",
            details=bad.details,
        ) from bad
