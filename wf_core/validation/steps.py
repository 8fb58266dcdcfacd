"""Checks each kind of step by itself: what it reads and writes, and that every outcome it can have has a route."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wf_core.calls.contract import ERROR_OUTCOME
from wf_core.plan import (
    ConditionStep,
    EndStep,
    ForeachStep,
    InterruptStep,
    JoinStep,
    NodeStep,
    ParallelStep,
    SubgraphStep,
)
from wf_core.plan.steps import AnyStep, CollectErrors
from wf_core.validation.bindings import (
    CONTEXT_NAMES,
    Scope,
    check_expressions,
    check_output_map,
    check_path,
    check_state_target,
)
from wf_core.validation.capabilities import Sources, check_capability, check_filled, check_read
from wf_core.validation.children import SavedPlans, find_child
from wf_core.validation.conditions import check_condition
from wf_core.validation.report import Findings
from wf_core.validation.schemas import check_schema
from wf_core.validation.types import check_input_types, check_output_types


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the world outside of the plan; None where nothing is."""

    sources: Sources | None = None
    saved: SavedPlans | None = None


def check_step(step: AnyStep, scope: Scope, known: Surroundings, found: Findings) -> None:
    """Report what is wrong with a step, apart from where its routes lead."""
    match step:
        case NodeStep():
            _check_node(step, scope, known, found)
        case ConditionStep():
            check_condition(step.check, scope, found.at("check"))
            _check_outcomes(step.routes, ("true", "false"), found)
        case ForeachStep():
            _check_foreach(step, scope, found)
        case ParallelStep():
            _check_outcomes(step.routes, ("done",), found)
        case SubgraphStep():
            _check_subgraph(step, scope, known, found)
        case JoinStep():
            _check_outcomes(step.routes, ("ok",), found)
        case InterruptStep():
            _check_interrupt(step, scope, found)
        case EndStep():
            pass


def _check_node(step: NodeStep, scope: Scope, known: Surroundings, found: Findings) -> None:
    targets = check_expressions(step.input, scope, found.at("input"))
    sources = check_output_map(step.output, scope, found.at("output"))
    check_output_map(step.error_output, scope, found.at("error_output"))
    contract = check_capability(step.use, known.sources or {}, found.at("use"))
    if contract is not None:
        check_filled(contract.input_schema, targets, "unknown_capability_input", found)
        check_read(contract.output_schema, sources, "unknown_capability_output", found)
        check_input_types(step.input, targets, contract.input_schema, scope, found)
        check_output_types(sources, contract.output_schema, scope, found)
        _check_outcomes(step.routes, contract.outcomes, found, optional={ERROR_OUTCOME})


def _check_foreach(step: ForeachStep, scope: Scope, found: Findings) -> None:
    check_path(step.over, scope, found.at("over"))
    if step.as_ in CONTEXT_NAMES:
        found.at("as").error(
            "invalid_type", f"`{step.as_}` is a name that `context` has already.", "Choose another one."
        )
    if isinstance(step.on_item_error, CollectErrors):
        check_state_target(step.on_item_error.collect_to, scope, found.at("on_item_error", "collect_to"))
    outcomes = ("loop", "done", "completed_with_errors")
    _check_outcomes(step.routes, outcomes, found, optional={"completed_with_errors"})


def _check_subgraph(step: SubgraphStep, scope: Scope, known: Surroundings, found: Findings) -> None:
    targets = check_expressions(step.input, scope, found.at("input"))
    sources = check_output_map(step.output, scope, found.at("output"))
    child = find_child(step.workflow, known.saved, found.at("workflow"))
    if child is not None:
        check_filled(child.input_schema, targets, "unknown_input_field", found)
        check_read(child.output_schema, sources, "unknown_output_field", found)
        check_input_types(step.input, targets, child.input_schema, scope, found)
        check_output_types(sources, child.output_schema, scope, found)
        _check_outcomes(step.routes, child.outcomes, found)


def _check_interrupt(step: InterruptStep, scope: Scope, found: Findings) -> None:
    check_expressions(step.request, scope, found.at("request"))
    check_output_map(step.resume, scope, found.at("resume"))
    check_schema(step.request_schema, found.at("request_schema"))
    check_schema(step.resume_schema, found.at("resume_schema"))
    for outcome, schema in step.outcome_schemas.items():
        here = found.at("outcome_schemas", outcome)
        check_schema(schema, here)
        if outcome not in step.outcomes:
            _report_undeclared(outcome, step.outcomes, here)
    _check_outcomes(step.routes, step.outcomes, found)


def _check_outcomes(
    routes: Mapping[str, str], outcomes: Collection[str], found: Findings, *, optional: Collection[str] = ()
) -> None:
    """Check that exactly the outcomes that a step can have are routed; the `optional` ones may be left out."""
    known = frozenset(outcomes)
    for outcome in routes:
        if outcome not in known:
            _report_undeclared(outcome, outcomes, found.at("routes", outcome))
    for outcome in outcomes:
        if outcome not in routes and outcome not in optional:
            found.at("routes").error("missing_route", f"The outcome `{outcome}` has no route.")


def _report_undeclared(outcome: str, outcomes: Collection[str], found: Findings) -> None:
    found.unknown("undeclared_outcome", f"This step never has the outcome `{outcome}`.", outcome, outcomes)
