"""Checks what a plan reads and writes: paths, templates, expressions, and the targets of one map."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from wf_core.errors import InvalidPath
from wf_core.jsonvalue import JsonSchema
from wf_core.paths import (
    GraphPath,
    Segments,
    format_path,
    overlaps,
    parse_graph_path,
    parse_local_path,
    parse_state_target,
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
from wf_core.plan.bindings import OutputMap
from wf_core.validation.report import Findings
from wf_core.validation.schemas import array_on_the_way, check_exists, properties_of

Parsed = TypeVar("Parsed")

MAX_NESTING = 32
"""Levels of expressions, or of conditions, inside one another; each is two levels of the plan's JSON."""

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
    path = _parsed(parse_graph_path, text, found)
    if path is not None:
        _check_read(path, scope, found)


def check_output_map(entries: OutputMap, scope: Scope, found: Findings) -> dict[str, Segments]:
    """Check a map of state path and local source path. Gives the sources that are paths, by target."""
    sources: dict[str, Segments] = {}
    for target, entry in entries.items():
        text, here = (entry, found.at(target)) if isinstance(entry, str) else (entry.source, found.at(target, "source"))
        segments = _parsed(parse_local_path, text, here)
        if segments is not None:
            sources[target] = segments
    check_state_targets(entries, scope, found)
    return sources


def check_state_targets(targets: Iterable[str], scope: Scope, found: Findings) -> None:
    """Check the state paths that one map writes."""
    for target, segments in check_targets(targets, parse_state_target, found).items():
        _check_write(target, segments, scope, found.at(target))


def check_state_target(text: str, scope: Scope, found: Findings) -> None:
    """Check one state path that is written."""
    segments = _parsed(parse_state_target, text, found)
    if segments is not None:
        _check_write(text, segments, scope, found)


def check_targets(targets: Iterable[str], parse: Callable[[str], Segments], found: Findings) -> dict[str, Segments]:
    """Report targets that are no paths, equal to another, or inside it. Gives those that are paths."""
    parsed: dict[str, Segments] = {}
    for target in targets:
        segments = _parsed(parse, target, found.at(target))
        if segments is not None:
            parsed[target] = segments
    order = {target: number for number, target in enumerate(parsed)}
    around: list[str] = []
    # Sorted, a path comes right after the ones that it lies inside of.
    for target in sorted(parsed, key=lambda target: parsed[target]):
        while around and not overlaps(parsed[around[-1]], parsed[target]):
            around.pop()
        if around:
            first, second = sorted((around[-1], target), key=lambda target: order[target])
            if parsed[first] == parsed[second]:
                found.at(second).error("duplicate_target", f"`{second}` and `{first}` are the same target.")
            else:
                found.at(second).error("overlapping_targets", f"`{second}` and `{first}` lie one inside the other.")
        around.append(target)
    return parsed


def _parsed(parse: Callable[[str], Parsed], text: str, found: Findings) -> Parsed | None:
    """Parse, reporting what does not parse."""
    try:
        return parse(text)
    except InvalidPath as error:
        found.error(error.code, error.message, error.hint)
        return None


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
    for part in _parsed(parse_template, text, found) or ():
        if isinstance(part, GraphPath):
            _check_read(part, scope, found)


def _check_read(path: GraphPath, scope: Scope, found: Findings) -> None:
    if scope.input_only and path.root != "input":
        found.error("invalid_path", f"`{path}` cannot be read here.", "`initial_state` is made from `input` alone.")
        return
    match path.root:
        case "input":
            check_exists(scope.input_schema, path.segments, "unknown_input_field", f"`{path}`: `input_schema`", found)
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
        message = f"`{text}`: `state_schema` does not declare `{segments[0]}`."
        hint = "Declare it in the properties of `state_schema`."
        found.unknown("unknown_state_field", message, segments[0], declared, hint)
        return
    check_exists(scope.state_schema, segments, "unknown_state_field", f"`{text}`: `state_schema`", found)


def _check_context(path: GraphPath, scope: Scope, found: Findings) -> None:
    if scope.context is None or not path.segments:
        return
    name = path.segments[0]
    if name in CONTEXT_NAMES and len(path.segments) > 1:
        found.error("invalid_path", f"`{path}`: nothing is inside of `context.{name}`.")
    elif name not in scope.context:
        found.unknown("invalid_path", f"`{path}`: the context here has no `{name}`.", name, scope.context)
