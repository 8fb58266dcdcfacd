"""Subgraph steps: a child workflow with an input and a state of its own."""

from wf_core.jsonvalue import JsonValue
from wf_core.runtime.flow import advance, pass_on
from wf_core.runtime.outputs import map_result, require
from wf_core.runtime.patches import apply_writes
from wf_core.runtime.program import Program, SubgraphCode
from wf_core.runtime.tree import Turn, grow, rest
from wf_core.runtime.views import View, view_of
from wf_core.state import Frame, InChild, Layer, RunState, Scope


def open_scope(run: RunState, program: Program, path: tuple[str, ...], input: JsonValue) -> Scope:
    """Give a workflow its input and its state at start.

    Raises:
        StepFailed: `path_not_found`, `state_invalid`: `initial_state` could not be built; no scope was opened.
    """
    layer = Layer(dict(program.shape.defaults))
    view = View(input, layer)
    writes = [(target, evaluate(view)) for target, evaluate in program.initial_state]
    apply_writes(program.shape, layer, writes)
    scope = Scope(run.counters.scope, path, input, layer)
    run.counters.scope += 1
    run.scopes[scope.id] = scope
    return scope


def visit_subgraph(turn: Turn, frame: Frame, code: SubgraphCode) -> None:
    """Start the child workflow.

    Raises:
        StepFailed: the child did not start.
    """
    run = turn.run
    arguments = code.build_input(view_of(run, frame))
    require("input_invalid", "The input of the child workflow", code.child.input_check, arguments, "input")
    path = (*run.scopes[frame.scope].program, frame.step_id)
    scope = open_scope(run, code.child, path, arguments)
    child = grow(run, role="child", scope=scope.id, parent=frame, step_id=code.child.plan.start, program=code.child)
    frame.activity = InChild(child.id)
    rest(run, frame)


def visit_ended_child(turn: Turn, frame: Frame, code: SubgraphCode, child: InChild) -> None:
    """Go on when the child workflow has ended.

    Raises:
        StepFailed: what the child gave could not be written.
    """
    ended = child.ended
    if ended is None:
        rest(turn.run, frame)
    elif ended.error is not None:
        pass_on(turn, frame, ended.error)
    else:
        writes = map_result(code.output, ended.output)
        changes = apply_writes(frame.program.shape, frame.layer, writes) if writes else None
        advance(turn, frame, ended.outcome or "ok", output=ended.output, state_changes=changes)
