"""The inputs of a run as records: a run is its latest checkpoint and the inputs since.

`apply` is the transition that an input names. How inputs are written down is `wf_core.codec.inputs`.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from wf_core.errors import RunRefused, StateCorrupt
from wf_core.frozen import frozen
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import engine, recovery, settling
from wf_core.runtime.program import Program
from wf_core.runtime.work import Answer, CallFailure, Ready, Settlement, Stopped, Waiting
from wf_core.state import RunState


@frozen
class NextWork:
    """The driver asked what is next; steps were executed and attempts of calls began."""

    now: datetime


@frozen
class Complete:
    """A call gave its result."""

    now: datetime
    call_id: str
    outcome: str
    output: JsonValue
    goes_on: bool = False
    """The driver asks at once what is next, as `NextWork` does."""


@frozen
class Fail:
    """An attempt of a call gave none."""

    now: datetime
    call_id: str
    failure: CallFailure
    jitter: float


@frozen
class Resume:
    """Somebody answered a question."""

    now: datetime
    answer: Answer


@frozen
class Cancel:
    """Somebody ended the run."""

    now: datetime
    reason: str | None


@frozen
class Recover:
    """Another process took the run over."""

    now: datetime


@frozen
class PutOff:
    """A call that began waits now: nobody here can carry it out, or its callee goes on elsewhere."""

    now: datetime
    call_id: str
    awaits: Literal["isolated", "callee"]
    reason: str


@frozen
class Doubt:
    """The callee of a call that waits for it is not there any more: nobody knows what became of the call."""

    now: datetime
    call_id: str
    reason: str


@frozen
class Settle:
    """Somebody said what became of a call that waits, or that it may be made."""

    now: datetime
    call_id: str
    settlement: Settlement


@frozen
class Expire:
    """The time has come of calls that wait."""

    now: datetime


Input = NextWork | Complete | Fail | Resume | Cancel | Recover | PutOff | Doubt | Settle | Expire


def apply(program: Program, run: RunState, given: Input) -> Ready | Waiting | Stopped | None:
    """Make the transition that an input names; only one that asks what is next has an answer.

    Raises:
        RunRefused: the input is not taken; the run is as it was.
    """
    work = _apply(program, run, given)
    run.position += 1
    return work


def replay(program: Program, run: RunState, journal: Iterable[tuple[int, Input, int]]) -> None:
    """Bring a checkpoint up to date; the trace entries that are made again are not given again by `take_trace`.

    An element of the journal is the position that an input led to, the input, and how many trace entries it made.

    Raises:
        StateCorrupt: the journal is not that of this run from this checkpoint on.
    """
    for position, given, entries in journal:
        before = run.trace_count
        if position != run.position + 1:
            raise _astray(run, position, f"it does not follow {run.position}")
        try:
            apply(program, run, given)
        except (RunRefused, KeyError, OverflowError) as exc:
            raise _astray(run, position, f"the run refuses it ({exc})") from exc
        if run.trace_count - before != entries:
            raise _astray(run, position, f"it made {entries} trace entries and now makes {run.trace_count - before}")
    run.take_trace()


def _apply(program: Program, run: RunState, given: Input) -> Ready | Waiting | Stopped | None:
    match given:
        case NextWork(now):
            return engine.next_work(program, run, now=now)
        case Complete(now, call_id, outcome, output, goes_on):
            engine.complete(program, run, call_id, outcome=outcome, output=output, now=now)
            if goes_on:
                return engine.next_work(program, run, now=now)
        case Fail(now, call_id, failure, jitter):
            engine.fail(program, run, call_id, failure, now=now, jitter=jitter)
        case Resume(now, answer):
            engine.resume(program, run, answer, now=now)
        case Cancel(now, reason):
            engine.cancel(program, run, reason=reason, now=now)
        case Recover(now):
            recovery.recover(program, run, now=now)
        case PutOff() | Doubt() | Settle() | Expire():
            _apply_to_waiting(program, run, given)
    return None


def _apply_to_waiting(program: Program, run: RunState, given: PutOff | Doubt | Settle | Expire) -> None:
    match given:
        case PutOff(now, call_id, awaits, reason):
            settling.put_off(program, run, call_id, awaits=awaits, reason=reason, now=now)
        case Doubt(_, call_id, reason):
            recovery.doubt(program, run, call_id, reason=reason)
        case Settle(now, call_id, settlement):
            settling.settle(program, run, call_id, settlement, now=now)
        case Expire(now):
            settling.expire(program, run, now=now)


def _astray(run: RunState, position: int, reason: str) -> StateCorrupt:
    return StateCorrupt(
        f"The journal of the run {run.run_id} does not fit its checkpoint: at position {position}, {reason}.",
        hint="The run was left as it is; restore it from a copy.",
        details={"run_id": run.run_id, "position": position},
    )
