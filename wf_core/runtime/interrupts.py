"""Interrupt steps: opening a question, and taking its answer."""

import hashlib

from wf_core.errors import (
    AmbiguousInterrupt,
    InvalidResumeOutcome,
    InvalidResumePayload,
    NotJson,
    PersonRequired,
    RunNotInterrupted,
    StaleInterrupt,
    StepFailed,
)
from wf_core.jsonvalue import canonical, check
from wf_core.runtime.faults import fault
from wf_core.runtime.flow import advance, fail_step
from wf_core.runtime.outputs import map_result, require
from wf_core.runtime.patches import apply_writes
from wf_core.runtime.program import InterruptCode
from wf_core.runtime.traces import note
from wf_core.runtime.tree import Turn, rest
from wf_core.runtime.views import view_of
from wf_core.runtime.work import Answer
from wf_core.schemas import compile_schema
from wf_core.state import Asking, Frame, Interrupt, RunState
from wf_core.times import iso


def visit_interrupt(turn: Turn, frame: Frame, code: InterruptCode) -> None:
    """Open the question.

    Raises:
        StepFailed: `request_invalid`, or what building the request met.
    """
    run, step = turn.run, code.step
    payload = code.build_request(view_of(run, frame))
    require("request_invalid", "The request", code.request_check, payload, "request")
    interrupt = Interrupt(
        id=f"int_{run.counters.interrupt}",
        frame=frame.id,
        kind=step.kind,
        step_id=frame.step_id,
        path=(*frame.prefix, frame.step_id),
        payload=payload,
        outcomes=tuple(step.outcomes),
        request_schema=step.request_schema,
        resume_schema=step.resume_schema,
        outcome_schemas=dict(step.outcome_schemas),
        typed="resume_schema" in step.model_fields_set or "outcome_schemas" in step.model_fields_set,
        answered_by=step.answered_by,
        opened_at=turn.now,
    )
    run.counters.interrupt += 1
    run.interrupts[interrupt.id] = interrupt
    frame.activity = Asking(interrupt.id)
    note(run, frame, now=turn.now, input=payload)
    rest(run, frame)


def find_question(run: RunState, answer: Answer) -> Interrupt:
    """Find the question that an answer is for, and refuse an answer that does not fit it.

    Raises:
        RunRefused: RunNotInterrupted, StaleInterrupt, AmbiguousInterrupt, PersonRequired, InvalidResumeOutcome or
            InvalidResumePayload; nothing was changed.
    """
    interrupt = _named(run, answer.interrupt_id)
    if interrupt.answered_by == "person" and not answer.person:
        raise PersonRequired(
            f"The question {interrupt.id} at step {interrupt.step_id} may be answered by a person only.",
            hint=f"A person answers with: wf runs resume {run.run_id} --interrupt {interrupt.id}",
            details={"interrupt_id": interrupt.id},
        )
    if answer.outcome not in interrupt.outcomes:
        raise InvalidResumeOutcome(
            f"The question {interrupt.id} does not offer the outcome {answer.outcome!r}.",
            hint=f"Answer with one of: {', '.join(interrupt.outcomes)}.",
            details={"interrupt_id": interrupt.id, "outcomes": list(interrupt.outcomes)},
        )
    _check_payload(interrupt, answer)
    return interrupt


def answer_question(turn: Turn, frame: Frame, code: InterruptCode, interrupt: Interrupt, answer: Answer) -> None:
    """Apply an answer that `find_question` let pass."""
    run = turn.run
    del run.interrupts[interrupt.id]
    try:
        writes = map_result(code.resume, answer.payload)
        changes = apply_writes(frame.program.shape, frame.layer, writes) if writes else None
    except StepFailed as failed:
        fail_step(turn, frame, failed, output=answer.payload)
        return
    advance(
        turn,
        frame,
        answer.outcome,
        output=answer.payload,
        state_changes=changes,
        answer={
            "interrupt_id": interrupt.id,
            "channel": answer.channel,
            "principal": answer.principal,
            "person": answer.person,
            "at": iso(turn.now),
            "request_digest": f"sha256:{hashlib.sha256(canonical(interrupt.payload)).hexdigest()}",
        },
    )


def _named(run: RunState, interrupt_id: str | None) -> Interrupt:
    if interrupt_id is None:
        return _only(run)
    found = run.interrupts.get(interrupt_id)
    if found is None:
        open_ids = list(run.interrupts)
        raise StaleInterrupt(
            f"The question {interrupt_id} of run {run.run_id} is not open.",
            hint=f"Open now: {', '.join(open_ids)}." if open_ids else "No question of this run is open.",
            details={"interrupt_id": interrupt_id, "open": open_ids},
        )
    return found


def _only(run: RunState) -> Interrupt:
    """Give the question that an answer means which names none."""
    open_ids = list(run.interrupts)
    if not open_ids:
        raise RunNotInterrupted(
            f"The run {run.run_id} has no open question; it is {run.status}.", hint="Look at it with inspect_run."
        )
    if len(open_ids) > 1:
        raise AmbiguousInterrupt(
            f"The run {run.run_id} has {len(open_ids)} open questions.",
            hint=f"Say which one is answered: interrupt_id is one of {', '.join(open_ids)}.",
            details={"interrupt_ids": open_ids},
        )
    return run.interrupts[open_ids[0]]


def _check_payload(interrupt: Interrupt, answer: Answer) -> None:
    try:
        check(answer.payload, "payload")
    except NotJson as bad:
        raise InvalidResumePayload(
            f"The answer is not JSON. {bad.message}", hint=bad.hint, details=bad.details
        ) from bad
    schema = interrupt.schema_for(answer.outcome)
    found = fault(compile_schema(schema), answer.payload, "payload")
    if found is not None:
        raise InvalidResumePayload(
            f"The answer does not fit the question: {found.text}",
            hint="Send a resume_payload that fits resume_schema; nothing was changed.",
            details={"interrupt_id": interrupt.id, "problems": found.problems, "resume_schema": schema},
        )
