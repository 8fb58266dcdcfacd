"""Checks where routes lead: targets that exist, bodies that stay in their loop, ends that are declared."""

from wf_core.plan import BREAK, END, EndStep
from wf_core.validation.draft import Draft
from wf_core.validation.graph import MAX_LOOPS, Graph
from wf_core.validation.report import Findings


def check_routes(draft: Draft, graph: Graph, found: Findings) -> None:
    """Report what is wrong with the start, the targets of routes, loop bodies and workflow outcomes."""
    start = draft.start
    if start is not None and start not in graph.vertices:
        found.at("start").unknown("unknown_start", f"There is no step `{start}`.", start, graph.vertices)
    for step_id, vertex in graph.vertices.items():
        for outcome, target in vertex.routes.items():
            _check_target(step_id, outcome, target, graph, found.at("steps", step_id, "routes", outcome))
    for step_id in graph.too_deep:
        found.at("steps", step_id).error("invalid_type", f"Loops nest deeper than {MAX_LOOPS} levels here.")
    for escape in graph.escapes:
        here = found.at("steps", escape.step_id, "routes", escape.outcome)
        if escape.step_id == escape.loop:
            here.error(
                "loop_body_escape",
                f"The body of `{escape.loop}` begins at `{escape.target}`, which is also reached from outside of it.",
                "A body belongs to its loop: let no other route lead into it.",
            )
        else:
            here.error(
                "loop_body_escape",
                f"`{escape.step_id}` is in the body of `{escape.loop}`, and `{escape.target}` is not.",
                f"Route to {END} to end the item, or to {BREAK} to leave a serial loop.",
            )
    for step_id, vertex in graph.vertices.items():
        if vertex.kind == "end" and graph.loops[step_id]:
            found.at("steps", step_id).error(
                "end_in_loop_body",
                f"`{step_id}` would end the workflow from inside the loop `{graph.loops[step_id][-1]}`.",
                f"Route to {END} to end the item, or to {BREAK} to leave a serial loop.",
            )
    if "outcomes" not in draft.unread:
        _check_workflow_outcomes(draft, graph, found)


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
    if target in graph.vertices:
        return
    if target not in (END, BREAK):
        known = [*graph.vertices, END]
        found.unknown("unknown_route_target", f"There is no step `{target}`.", target, known)
    elif outcome not in graph.vertices[step_id].exits:
        found.error("unknown_route_target", "`loop` names the first step of the body.")
    elif target == BREAK:
        loops = graph.loops[step_id]
        if not loops or not graph.vertices[loops[-1]].serial:
            found.error("unknown_route_target", f"{BREAK} stands only in the body of a serial loop.")


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
