"""Checks what a plan reads and writes: paths, templates, expressions, and the targets of one map."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from wf_core.errors import InvalidPath
from wf_core.paths import GraphPath, format_path, parse_graph_path, parse_local_path, parse_state_target, parse_template
from wf_core.plan import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.plan.bindings import OutputMap
from wf_core.schemas import JsonSchema
from wf_core.validation.report import Findings, suggest
from wf_core.validation.schemas import array_on_the_way, first_gap, properties_of

Segments = tuple[str, ...]

MAX_NESTING = 64
"""Levels of expressions, or of conditions, inside one another."""

CONTEXT_NAMES = frozenset({"run_id", "step_id", "attempt"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What is there to be read and written at one place of a plan."""

    input_schema: JsonSchema
    state_schema: JsonSchema | None
    """None where the plan's own could not be read: then any field may be declared."""
    context: frozenset[str] | None = CONTEXT_NAMES
    """Names below `context`; None where they cannot be told."""
    input_only: bool = False
    used: set[str] = field(default_factory=set[str])
    """State fields that were read or written so far, collected over the whole plan."""

    def with_context(self, context: frozenset[str] | None) -> "Scope":
        return replace(self, context=context)

    def for_initial_state(self) -> "Scope":
        return replace(self, input_only=True)


def check_expressions(targets: Mapping[str, Expression], scope: Scope, found: Findings) -> dict[str, Segments]:
    """Check a map of local target and expression. Gives the targets that are paths."""
    for target, expression in targets.items():
        check_expression(expression, scope, found.at(target))
    return check_targets(targets, parse_local_path, found)


def check_expression(expression: Expression, scope: Scope, found: Findings) -> None:
    for leaf, here in _leaves(expression, found):
        match leaf:
            case PathExpression(path=path):
                check_path(path, scope, here.at("path"))
            case TemplateExpression(template=template):
                _check_template(template, scope, here.at("template"))
            case ValueExpression():
                pass


def check_path(text: str, scope: Scope, found: Findings) -> None:
    """Check a graph path that is read."""
    try:
        path = parse_graph_path(text)
    except InvalidPath as error:
        found.error(error.code, error.message, error.hint)
        return
    _check_read(path, scope, found)


def check_output_map(entries: OutputMap, scope: Scope, found: Findings) -> dict[str, Segments]:
    """Check a map of state path and local source path. Gives the sources that are paths, by target."""
    sources: dict[str, Segments] = {}
    for target, entry in entries.items():
        text, here = (entry, found.at(target)) if isinstance(entry, str) else (entry.source, found.at(target, "source"))
        try:
            sources[target] = parse_local_path(text)
        except InvalidPath as error:
            here.error(error.code, error.message, error.hint)
    check_state_targets(entries, scope, found)
    return sources


def check_state_targets(targets: Mapping[str, object], scope: Scope, found: Findings) -> None:
    """Check the state paths that one map writes."""
    for target, segments in check_targets(targets, parse_state_target, found).items():
        _check_write(target, segments, scope, found.at(target))


def check_state_target(text: str, scope: Scope, found: Findings) -> None:
    """Check one state path that is written."""
    try:
        segments = parse_state_target(text)
    except InvalidPath as error:
        found.error(error.code, error.message, error.hint)
    else:
        _check_write(text, segments, scope, found)


def check_targets(
    targets: Mapping[str, object], parse: Callable[[str], Segments], found: Findings
) -> dict[str, Segments]:
    """Report targets that are no paths, equal to another, or inside it. Gives those that are paths."""
    parsed: dict[str, Segments] = {}
    whole: dict[Segments, str] = {}
    outer: dict[Segments, str] = {}
    for target in targets:
        here = found.at(target)
        try:
            segments = parse(target)
        except InvalidPath as error:
            here.error(error.code, error.message, error.hint)
            continue
        parsed[target] = segments
        prefixes = [segments[:length] for length in range(len(segments))]
        if segments in whole:
            here.error("duplicate_target", f"`{target}` and `{whole[segments]}` are the same target.")
        else:
            other = outer.get(segments) or next((whole[prefix] for prefix in prefixes if prefix in whole), None)
            if other is not None:
                here.error("overlapping_targets", f"`{target}` and `{other}` lie one inside the other.")
        whole.setdefault(segments, target)
        for prefix in prefixes:
            outer.setdefault(prefix, target)
    return parsed


def _leaves(
    expression: Expression, found: Findings
) -> Iterator[tuple[PathExpression | ValueExpression | TemplateExpression, Findings]]:
    """Yield what an expression is put together from, each with its place."""
    pending: list[tuple[Expression, Findings, int]] = [(expression, found, 1)]
    while pending:
        inner, here, depth = pending.pop()
        if depth > MAX_NESTING:
            here.error("invalid_type", f"Expressions nest deeper than {MAX_NESTING} levels here.")
            continue
        match inner:
            case ObjectExpression(object=members):
                pending += [(member, here.at("object", key), depth + 1) for key, member in members.items()]
            case ArrayExpression(array=elements):
                pending += [(element, here.at("array", index), depth + 1) for index, element in enumerate(elements)]
            case PathExpression() | ValueExpression() | TemplateExpression():
                yield inner, here


def _check_write(text: str, segments: Segments, scope: Scope, found: Findings) -> None:
    """Check that a state path is declared and can be written."""
    _check_state(text, segments, scope, found)
    position = array_on_the_way(scope.state_schema, segments) if scope.state_schema is not None else None
    if position is not None:
        array = format_path(("state", *segments[:position]))
        found.error(
            "invalid_path",
            f"`{text}` writes into the array `{array}`.",
            f"Write `{array}` as a whole; the reducers `append` and `extend` add to it.",
        )


def _check_template(text: str, scope: Scope, found: Findings) -> None:
    try:
        parts = parse_template(text)
    except InvalidPath as error:
        found.error(error.code, error.message, error.hint)
        return
    for part in parts:
        if isinstance(part, GraphPath):
            _check_read(part, scope, found)


def _check_read(path: GraphPath, scope: Scope, found: Findings) -> None:
    if scope.input_only and path.root != "input":
        found.error("invalid_path", f"`{path}` cannot be read here.", "`initial_state` is made from `input` alone.")
        return
    match path.root:
        case "input":
            gap = first_gap(scope.input_schema, path.segments)
            if gap is not None:
                name = path.segments[gap.position]
                found.error(
                    "unknown_input_field", f"`{path}`: `input_schema` has no `{name}` there.", suggest(name, gap.known)
                )
        case "state":
            _check_state(str(path), path.segments, scope, found)
        case "context":
            _check_context(path, scope, found)


def _check_state(text: str, segments: Segments, scope: Scope, found: Findings) -> None:
    if scope.state_schema is None:
        return
    declared = properties_of(scope.state_schema)
    if not segments:
        scope.used.update(declared)
        return
    scope.used.add(segments[0])
    if segments[0] not in declared:
        hint = suggest(segments[0], declared) or "Declare it in the properties of `state_schema`."
        found.error("unknown_state_field", f"`{text}`: `state_schema` does not declare `{segments[0]}`.", hint)
        return
    gap = first_gap(scope.state_schema, segments)
    if gap is not None:
        name = segments[gap.position]
        found.error("unknown_state_field", f"`{text}`: `state_schema` has no `{name}` there.", suggest(name, gap.known))


def _check_context(path: GraphPath, scope: Scope, found: Findings) -> None:
    if scope.context is None or not path.segments or path.segments[0] in scope.context:
        return
    found.error(
        "invalid_path",
        f"`{path}`: the context here has no `{path.segments[0]}`.",
        suggest(path.segments[0], scope.context),
    )
