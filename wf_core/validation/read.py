"""Reads a plan and reports every issue of it at once.

Shapes first, as far as they can be read (`draft`); then each rule looks at everything that was read. Plans written in
place are read the same way, their issues under the place where they stand.
"""

from typing import Any, cast

from wf_core.errors import NotJson
from wf_core.jsonvalue import check
from wf_core.plan import SubgraphStep
from wf_core.schemas import schema_issues
from wf_core.validation.bindings import (
    CONTEXT_NAMES,
    Scope,
    check_expression,
    check_expressions,
    check_state_targets,
)
from wf_core.validation.capabilities import Sources
from wf_core.validation.children import Children, SavedPlans
from wf_core.validation.defaults import check_defaults, check_is_object
from wf_core.validation.draft import Draft, read_draft
from wf_core.validation.graph import Graph, build_graph
from wf_core.validation.loops import check_concurrent_writes
from wf_core.validation.report import Findings, Report
from wf_core.validation.routes import check_routes, warn_of_dead_ends
from wf_core.validation.schemas import check_exists, check_reducers, check_schema, properties_of
from wf_core.validation.shapes import described
from wf_core.validation.steps import Surroundings, check_step

MAX_PLANS = 16
"""Plans written in place inside one another."""


def read_plan(document: object, *, sources: Sources | None = None, children: Children | None = None) -> Report:
    """Read a plan from JSON. Never raises: whatever the document is, the report says what is wrong with it.

    `sources` (what each of them offers) and `children` (every saved plan, however deep) say what is known of the world
    outside; what depends on something unknown is not checked.
    """
    found = Findings()
    try:
        check(document, "plan")
    except NotJson as error:
        found.error("invalid_type", error.message, error.hint)
        return Report(found.issues, None)
    draft = _inspect(document, Surroundings(sources, None if children is None else SavedPlans(children)), found)
    report = Report(found.issues, None)
    return Report(found.issues, draft.plan()) if draft is not None and report.valid else report


def _inspect(document: object, known: Surroundings, found: Findings, plans: int = 1) -> Draft | None:
    """Read one plan and the plans written in place in it."""
    if not isinstance(document, dict):
        found.error("invalid_type", f"A plan is an object, not {described(document)}.")
        return None
    if plans > MAX_PLANS:
        found.error(
            "invalid_type", f"Plans nest deeper than {MAX_PLANS} levels here.", "Save the inner ones as artifacts."
        )
        return None
    before = len(found.issues)
    draft = read_draft(cast("dict[str, Any]", document), found)
    whole = len(found.issues) == before
    graph = build_graph(draft.written, draft.start)
    scope = Scope(draft.head.input_schema, None if "state_schema" in draft.unread else draft.head.state_schema)
    _check_plan(draft, scope, found)
    for step_id, step in draft.steps.items():
        here = found.at("steps", step_id)
        check_step(step, scope.with_context(_context(step_id, draft, graph)), known, here)
        if isinstance(step, SubgraphStep) and step.workflow.plan is not None:
            _inspect(step.workflow.plan, known, here.at("workflow", "plan"), plans + 1)
    check_routes(draft, graph, found)
    if scope.state_schema is not None:
        check_concurrent_writes(draft.steps, graph, scope.state_schema, found)
    if whole:
        # What could not be read might be the route or the use that seems to be missing.
        if graph.reachable:
            warn_of_dead_ends(graph, found)
        _warn_of_unused_state(draft, scope, found)
    return draft


def _check_plan(draft: Draft, scope: Scope, found: Findings) -> None:
    """Check what stands beside the steps."""
    head = draft.head
    for name, schema in (
        ("input_schema", head.input_schema),
        ("state_schema", head.state_schema),
        ("output_schema", head.output_schema),
    ):
        check_schema(schema, found.at(name))
    check_is_object(head.input_schema, "Input", found.at("input_schema"))
    check_is_object(head.state_schema, "State", found.at("state_schema"))
    check_reducers(head.state_schema, found.at("state_schema"))
    if not schema_issues(head.state_schema):
        check_defaults(head.state_schema, found.at("state_schema"))
    for target, expression in head.initial_state.items():
        check_expression(expression, scope.for_initial_state(), found.at("initial_state", target))
    check_state_targets(head.initial_state, scope, found.at("initial_state"))
    if head.output is None:
        scope.used.update(properties_of(head.output_schema))
        return
    for target, segments in check_expressions(head.output, scope, found.at("output")).items():
        check_exists(
            head.output_schema, segments, "unknown_output_field", "`output_schema`", found.at("output", target)
        )


def _context(step_id: str, draft: Draft, graph: Graph) -> frozenset[str] | None:
    """Name what `context` holds at a step; None where an unreadable step may be a loop around it."""
    return CONTEXT_NAMES | graph.context_names(step_id) if draft.all_steps_read else None


def _warn_of_unused_state(draft: Draft, scope: Scope, found: Findings) -> None:
    for name in properties_of(draft.head.state_schema):
        if name not in scope.used:
            found.at("state_schema", "properties", name).warning(
                "unused_state_field", f"Nothing reads or writes `state.{name}`.", "Use it, or take it out."
            )
