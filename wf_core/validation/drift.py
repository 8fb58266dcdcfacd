"""What a plan uses of the capabilities that it names, and whether a changed contract touches that.

A drift is breaking when an input that the plan fills has another type or is gone, a required input is new and not
filled, an output that it reads changed, or an outcome is new and has no route. Any other is compatible.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from wf_core.calls.contract import DESCRIBING, ERROR_OUTCOME, Contract, Hints, essence, essential
from wf_core.jsonvalue import JsonSchema, equal
from wf_core.paths import Segments, format_path, parse_local_path
from wf_core.plan import CapabilityRef, NodeStep, SubgraphStep, WorkflowPlan
from wf_core.validation.capabilities import unfilled
from wf_core.validation.report import Findings, Issue, Place
from wf_core.validation.schemas import always_there, properties_of, schemas_at

_BOUNDS = DESCRIBING | {
    "default", "deprecated", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength", "maxProperties",
    "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "readOnly", "uniqueItems",
    "writeOnly",
}  # fmt: skip
"""Keywords that leave the type of an input as it is."""


@dataclass(frozen=True, slots=True)
class Use:
    """One step that calls a capability."""

    place: Place
    inputs: tuple[Segments, ...]
    """What it fills; `()` is the whole input."""
    outputs: tuple[tuple[Segments, bool], ...]
    """What it reads, and whether that may be missing."""
    outcomes: frozenset[str]
    """What it routes."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Every use that a plan makes of one capability."""

    uses: tuple[Use, ...]


def usage(plan: WorkflowPlan) -> Mapping[str, Usage]:
    """List what a valid plan uses, by `source.capability`, plans written in place included."""
    uses: dict[str, list[Use]] = {}
    for reference, use in _uses(plan, ()):
        uses.setdefault(str(reference), []).append(use)
    return {name: Usage(tuple(found)) for name, found in uses.items()}


def required_capabilities(plan: WorkflowPlan) -> list[str]:
    """Name what a valid plan calls, as `source.capability`, sorted, plans written in place included."""
    return sorted(usage(plan))


def called_capabilities(plan: WorkflowPlan) -> frozenset[CapabilityRef]:
    """Give what a valid plan calls, plans written in place included.

    Source and capability stand apart here: both may hold dots, so two of them may have the same name as one text.
    """
    return frozenset(reference for reference, _ in _uses(plan, ()))


def drift(used: Usage, pinned: Contract, live: Contract) -> list[Issue]:
    """Compare a live contract with the pinned one as far as it is used.

    Errors say what is breaking; one warning says that there is a difference which touches nothing; nothing is said of
    equal contracts. Hints and whatever only describes are no difference.
    """
    found = Findings()
    for use in used.uses:
        here = found.at(*use.place)
        _compare_inputs(use, pinned.input_schema, live.input_schema, here.at("input"))
        _compare_outputs(use, pinned.output_schema, live.output_schema, here.at("output"))
        for outcome in live.outcomes:
            if outcome not in (*pinned.outcomes, *use.outcomes, ERROR_OUTCOME):
                _report(here.at("routes"), f"The capability has the new outcome `{outcome}`, which has no route.")
    if not found.issues and not equal(essence(pinned), essence(live)):
        found.warning(
            "contract_changed",
            "The capability's contract changed since the run was started, in nothing that the plan uses.",
        )
    return found.issues


def effective(pinned: Contract, live: Contract) -> Contract:
    """Give the contract by which calls are judged after compatible drift: live, with the more cautious hints."""
    return Contract(
        input_schema=pinned.input_schema,
        output_schema=live.output_schema,
        outcomes=live.outcomes,
        hints=Hints(
            read_only=pinned.hints.read_only and live.hints.read_only,
            idempotent=pinned.hints.idempotent and live.hints.idempotent,
            destructive=pinned.hints.destructive or live.hints.destructive,
        ),
        deferred=pinned.deferred,
    )


def _uses(plan: WorkflowPlan, place: Place) -> Iterator[tuple[CapabilityRef, Use]]:
    for step_id, step in plan.steps.items():
        here = (*place, "steps", step_id)
        if isinstance(step, NodeStep):
            inputs = tuple(parse_local_path(target) for target in step.input)
            outputs = tuple(
                (parse_local_path(entry), False)
                if isinstance(entry, str)
                else (parse_local_path(entry.source), entry.optional)
                for entry in step.output.values()
            )
            yield step.use, Use(here, inputs, outputs, frozenset(step.routes))
        elif isinstance(step, SubgraphStep) and step.workflow.plan is not None:
            child = WorkflowPlan.model_validate(step.workflow.plan)
            yield from _uses(child, (*here, "workflow", "plan"))


def _compare_inputs(use: Use, pinned: JsonSchema, live: JsonSchema, found: Findings) -> None:
    for segments in _filled(use, pinned):
        if not equal(_said(pinned, segments, _BOUNDS), _said(live, segments, _BOUNDS)):
            _report(found, f"The input `{format_path(segments)}`, which the plan fills, has another type or is gone.")
    before = set(unfilled(pinned, ()))
    for name in unfilled(live, [segments for segments in use.inputs if segments]):
        if name not in before:
            _report(found, f"The capability now requires the input `{name}`, which the plan does not fill.")


def _compare_outputs(use: Use, pinned: JsonSchema, live: JsonSchema, found: Findings) -> None:
    for segments, optional in use.outputs:
        changed = not equal(_said(pinned, segments, DESCRIBING), _said(live, segments, DESCRIBING))
        lost = not optional and always_there(pinned, segments) and not always_there(live, segments)
        if changed or lost:
            _report(found, f"The output `{format_path(segments)}`, which the plan reads, changed.")


def _filled(use: Use, pinned: JsonSchema) -> Iterator[Segments]:
    """Give the inputs that a step fills; who fills the whole fills each property."""
    for segments in use.inputs:
        if segments:
            yield segments
        else:
            for conjunct in schemas_at(pinned, ()):
                yield from ((name,) for name in properties_of(conjunct))


def _said(schema: JsonSchema, segments: Segments, leave_out: AbstractSet[str]) -> Any:
    """Give what a schema says at a path; with its definitions where it refers to them."""
    said = essential(list(schemas_at(schema, segments)), leave_out)
    if isinstance(schema, dict) and "$ref" in str(said):
        definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        return [said, essential(definitions, leave_out)]
    return said


def _report(found: Findings, message: str) -> None:
    found.error("contract_changed", message, "Restore the capability as it was, or start a new run.")
