"""Checks where routes lead: targets that exist, bodies that stay in their loop, ends that are declared."""

from wf_core.plan import BREAK, END, EndStep
from wf_core.validation.draft import Draft
from wf_core.validation.graph import MAX_LOOPS, Graph
from wf_core.validation.report import Findings

_ENDING = f"Route to {END} to end the item or branch, or to {BREAK} to leave a serial loop."


def check_routes(draft: Draft, graph: Graph, found: Findings) -> None:
    """Report what is wrong with the start, the targets of routes, loop bodies and workflow outcomes."""
    start = draft.start
    if start is not None and start not in graph.vertices:
        found.at("start").unknown("unknown_start", f"There is no step `{start}`.", start, graph.vertices)
    for step_id, vertex in graph.vertices.items():
        here = found.at("steps", step_id)
        for outcome, target in vertex.routes.items():
            _check_target(step_id, outcome, target, graph, here.at("routes", outcome))
        for name, target in vertex.branches.items():
            if target != END:
                _check_exists(target, graph, here.at("branches", name))
    _check_bodies(graph, found)
    if "outcomes" not in draft.unread:
        _check_workflow_outcomes(draft, graph, found)


def _check_bodies(graph: Graph, found: Findings) -> None:
    """Report bodies that are not closed in themselves."""
    for step_id in graph.too_deep:
        found.at("steps", step_id).error("invalid_type", f"Loops nest deeper than {MAX_LOOPS} levels here.")
    for escape in graph.escapes:
        here = found.at("steps", escape.step_id, *escape.place)
        if escape.entering:
            here.error(
                "loop_body_escape",
                f"The body of `{escape.body}` begins at `{escape.target}`, which is also reached from outside of it.",
                "A body belongs to its loop or branch: let no other route lead into it.",
            )
        else:
            here.error(
                "loop_body_escape",
                f"`{escape.step_id}` is in the body of `{escape.body}`, and `{escape.target}` is not.",
                _ENDING,
            )
    for step_id, vertex in graph.vertices.items():
        if vertex.kind == "end" and graph.loops[step_id]:
            found.at("steps", step_id).error(
                "end_in_loop_body",
                f"`{step_id}` would end the workflow from inside the body of `{graph.loops[step_id][-1]}`.",
                _ENDING,
            )


def warn_of_dead_ends(graph: Graph, found: Findings) -> None:
    """Report steps that no run comes to, and those from which none comes to an end."""
    ending = graph.ending()
    for step_id in graph.vertices:
        if step_id not in graph.reachable:
            found.at("steps", step_id).warning(
                "unreachable_step", f"No route leads from the start to `{step_id}`.", "Route to it, or take it out."
            )
        elif step_id not in ending:
            found.at("steps", step_id).warning(
                "no_path_to_end", f"From `{step_id}` no route leads to an end.", f"Route to an end step or to {END}."
            )


def _check_target(step_id: str, outcome: str, target: str, graph: Graph, found: Findings) -> None:
    if target not in (END, BREAK):
        _check_exists(target, graph, found)
    elif outcome not in graph.vertices[step_id].exits:
        found.error("unknown_route_target", "`loop` names the first step of the body.")
    elif target == BREAK and not graph.may_break(step_id):
        found.error("unknown_route_target", f"{BREAK} stands only in the body of a serial loop.")


def _check_exists(target: str, graph: Graph, found: Findings) -> None:
    if target not in graph.vertices:
        found.unknown("unknown_route_target", f"There is no step `{target}`.", target, [*graph.vertices, END])


def _check_workflow_outcomes(draft: Draft, graph: Graph, found: Findings) -> None:
    outcomes = draft.head.outcomes
    for step_id, step in draft.steps.items():
        here = found.at("steps", step_id)
        if isinstance(step, EndStep):
            if step.outcome not in outcomes:
                here.at("outcome").unknown(
                    "undeclared_workflow_outcome",
                    f"`{step.outcome}` is not among the plan's `outcomes`.",
                    step.outcome,
                    outcomes,
                )
        elif "ok" not in outcomes and not graph.loops[step_id] and step_id in graph.reachable:
            for outcome, target in step.routes.items():
                if target == END:
                    here.at("routes", outcome).error(
                        "undeclared_workflow_outcome",
                        f"{END} ends the workflow with `ok`, which is not among the plan's `outcomes`.",
                        "Declare `ok`, or route to an end step with one of the outcomes.",
                    )
