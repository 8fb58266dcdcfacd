"""Types that can never meet: what a step hands on and what takes it, where the schemas of both say what they are.

Where either says nothing, anything is possible, and the run will tell.
"""

from collections.abc import Mapping

from wf_core.errors import InvalidPath
from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_core.paths import Segments, parse_graph_path, parse_state_target
from wf_core.plan import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.validation.bindings import Scope
from wf_core.validation.report import Findings
from wf_core.validation.schemas import ALL_TYPES, reducer_at, types_at

Types = frozenset[str]


def check_input_types(
    entries: Mapping[str, Expression],
    targets: Mapping[str, Segments],
    schema: JsonSchema,
    scope: Scope,
    found: Findings,
) -> None:
    """Report an expression that can give no type that the schema of the called takes at its target."""
    for target, segments in targets.items():
        given, taken = _given(entries[target], scope), types_at(schema, segments)
        if not given & taken:
            found.at("input", target).error(
                "invalid_type",
                f"This gives {_named(given)}, and the input `{target}` takes {_named(taken)}.",
                "Hand on a value of that type.",
            )


def check_output_types(sources: Mapping[str, Segments], schema: JsonSchema, scope: Scope, found: Findings) -> None:
    """Report a part of a result that can have no type that the state takes where it is written."""
    for target, segments in sources.items():
        try:
            path = parse_state_target(target)
        except InvalidPath:
            continue  # reported where the targets are checked
        if scope.state_schema is None or reducer_at(scope.state_schema, path) != "replace":
            continue
        given, taken = types_at(schema, segments), types_at(scope.state_schema, path)
        if not given & taken:
            found.at("output", target).error(
                "invalid_type",
                f"The result gives {_named(given)} here, and `{target}` takes {_named(taken)}.",
                "Write it to a field of that type, or change the field's schema.",
            )


def _given(expression: Expression, scope: Scope) -> Types:
    match expression:
        case ValueExpression(value=value):
            return _of_value(value)
        case ObjectExpression():
            return frozenset({"object"})
        case ArrayExpression():
            return frozenset({"array"})
        case TemplateExpression():
            return frozenset({"string"})
        case PathExpression(path=path, default=default):
            found = _at_path(path, scope)
            return found | _of_value(default) if expression.has_default else found


def _at_path(text: str, scope: Scope) -> Types:
    try:
        path = parse_graph_path(text)
    except InvalidPath:
        return ALL_TYPES  # reported where paths are checked
    schema = {"input": scope.input_schema, "state": scope.state_schema, "context": None}[path.root]
    return ALL_TYPES if schema is None else types_at(schema, path.segments)


def _of_value(value: JsonValue) -> Types:
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer"})
        case float():
            return frozenset({"integer"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case list():
            return frozenset({"array"})
        case _:
            return frozenset({"object"})


def _named(types: Types) -> str:
    """Name types for a message; `number` says `integer` too."""
    shown = types - {"integer"} if "number" in types else types
    return " or ".join(f"`{name}`" for name in sorted(shown)) or "nothing at all"
