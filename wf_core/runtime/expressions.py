"""Expressions, compiled: each becomes a function from what a step can see to a value.

A value that leaves through `compile_expression` may be kept by whoever receives it, so the state it comes from is
exposed (see `wf_core.state.layers`); one that leaves through `compile_peek` may be looked at and not kept.
"""

from collections.abc import Callable, Mapping

from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue, as_text
from wf_core.paths import (
    MISSING,
    GraphPath,
    Missing,
    format_path,
    lookup,
    parse_graph_path,
    parse_local_path,
    parse_template,
)
from wf_core.plan import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.runtime.faults import refuse_deep
from wf_core.runtime.views import View

Evaluate = Callable[[View], JsonValue]
Find = Callable[[View], JsonValue | Missing]


def compile_expression(expression: Expression) -> Evaluate:
    """Compile an expression whose value may be kept.

    The result raises `StepFailed` (`path_not_found`) where a path without a default leads nowhere.
    """
    return _compile(expression, keep=True)


def compile_peek(expression: Expression) -> Evaluate:
    """Compile an expression whose value is only looked at."""
    return _compile(expression, keep=False)


def compile_find(path: str, *, keep: bool = False) -> Find:
    """Compile a graph path; the result gives MISSING where it leads nowhere."""
    return _find(parse_graph_path(path), keep=keep)


def compile_object(targets: Mapping[str, Expression], refusal: str) -> Evaluate:
    """Compile a map of local targets; the result builds the object. The target `.` stands for the whole payload.

    `refusal` is the code of the failure when the object nests too deeply to be stored.
    """
    parts = [
        (parse_local_path(target), compile_built(expression, refusal, target)) for target, expression in targets.items()
    ]
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    if all(len(path) == 1 for path, _ in parts):
        flat = [(path[0], evaluate) for path, evaluate in parts]
        return lambda view: {name: evaluate(view) for name, evaluate in flat}

    def build(view: View) -> JsonValue:
        built: dict[str, JsonValue] = {}
        for path, evaluate in parts:
            _place(built, path, evaluate(view))
        refuse_deep(refusal, "The object", built)
        return built

    return build


def compile_built(expression: Expression, refusal: str, target: str) -> Evaluate:
    """Compile an expression that fails with `refusal` where it nests values too deeply to be stored."""
    evaluate = compile_expression(expression)
    if not isinstance(expression, (ObjectExpression, ArrayExpression)):
        return evaluate

    def evaluate_within_bounds(view: View) -> JsonValue:
        value = evaluate(view)
        refuse_deep(refusal, f"What {target} is made of", value)
        return value

    return evaluate_within_bounds


def _place(built: dict[str, JsonValue], path: tuple[str, ...], value: JsonValue) -> None:
    """Put a value into an object under construction; no two targets overlap."""
    holder = built
    for segment in path[:-1]:
        inner = holder.setdefault(segment, {})
        if not isinstance(inner, dict):
            raise AssertionError("targets of one map do not overlap")
        holder = inner
    holder[path[-1]] = value


def _compile(expression: Expression, *, keep: bool) -> Evaluate:
    match expression:
        case PathExpression():
            return _compile_path(expression, keep=keep)
        case ValueExpression(value=value):
            return lambda _: value
        case ObjectExpression(object=members):
            fields = [(name, _compile(member, keep=keep)) for name, member in members.items()]
            return lambda view: {name: evaluate(view) for name, evaluate in fields}
        case ArrayExpression(array=elements):
            parts = [_compile(element, keep=keep) for element in elements]
            return lambda view: [evaluate(view) for evaluate in parts]
        case TemplateExpression(template=template):
            return _compile_template(template)


def _compile_path(expression: PathExpression, *, keep: bool) -> Evaluate:
    find = _find(parse_graph_path(expression.path), keep=keep)
    if expression.has_default:
        default = expression.default

        def evaluate_or_default(view: View) -> JsonValue:
            value = find(view)
            return default if isinstance(value, Missing) else value

        return evaluate_or_default
    return _required(find, expression.path)


def _required(find: Find, text: str) -> Evaluate:
    def evaluate(view: View) -> JsonValue:
        value = find(view)
        if isinstance(value, Missing):
            raise StepFailed("path_not_found", f"Nothing is at {text}.", details={"path": text})
        return value

    return evaluate


def _compile_template(template: str) -> Evaluate:
    parts: list[str | Evaluate] = []
    for part in parse_template(template):
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append(_required(_find(part, keep=False), format_path((part.root, *part.segments))))

    def render(view: View) -> JsonValue:
        return "".join(part if isinstance(part, str) else as_text(part(view)) for part in parts)

    return render


def _find(path: GraphPath, *, keep: bool) -> Find:
    match path.root:
        case "input":
            segments = path.segments
            if len(segments) == 1:
                only = segments[0]

                def find_input(view: View) -> JsonValue | Missing:
                    value = view.input
                    return value.get(only, MISSING) if isinstance(value, dict) else lookup(value, segments)

                return find_input
            return lambda view: lookup(view.input, segments)
        case "state":
            return _find_state(path.segments, keep=keep)
        case "context":
            return _find_context(path.segments)


def _find_state(segments: tuple[str, ...], *, keep: bool) -> Find:
    if not segments:
        return lambda view: view.layer.whole()
    name, rest = segments[0], segments[1:]

    def find(view: View) -> JsonValue | Missing:
        value = view.layer.field(name)
        if rest and not isinstance(value, Missing):
            value = lookup(value, rest)
        if keep and (isinstance(value, (dict, list))):
            view.layer.expose(name)
        return value

    return find


def _find_context(segments: tuple[str, ...]) -> Find:
    if not segments:
        return lambda view: view.whole_context()
    name, rest = segments[0], segments[1:]

    def find(view: View) -> JsonValue | Missing:
        value = view.context(name)
        return value if isinstance(value, Missing) else lookup(value, rest)

    return find
