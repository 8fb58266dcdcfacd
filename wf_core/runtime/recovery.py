"""Going on after the process that advanced a run, or what a call of it went on in, is gone.

A call in flight either may be repeated without asking, and is, or it is in doubt: whether it executed is known to
nobody here, so its step waits for a person, as it would for the answer to a question. So it does where a call waited
for its callee, and that is not there any more.
"""

from datetime import datetime

from wf_core.errors import WrongAnswerKind
from wf_core.runtime.calls import in_flight, pending
from wf_core.runtime.linking import link
from wf_core.runtime.nodes import known_effects
from wf_core.runtime.program import Program
from wf_core.runtime.tree import suspend
from wf_core.state import Delayed, Pending, RunState


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
            suspend(run, frame, Pending(call, "in_doubt", "", since=call.started_at))


def doubt(program: Program, run: RunState, call_id: str, *, reason: str) -> None:
    """Let a person say what became of a call whose callee is not there any more.

    Raises:
        UnknownCall, CallAlreadyCompleted: the call waits for nobody.
        WrongAnswerKind: it does not wait for its callee; nothing was changed.
    """
    link(run, program)
    frame, _, waiting = pending(run, call_id)
    if waiting.awaits != "callee":
        raise WrongAnswerKind(
            f"The call {call_id} of {waiting.call.capability} does not wait for its callee.",
            hint="Nothing was changed.",
            details={"call_id": call_id, "awaits": waiting.awaits},
        )
    frame.activity = Pending(waiting.call, "in_doubt", reason, since=waiting.call.started_at)
