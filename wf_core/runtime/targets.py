"""Where a step may write, compiled: a state path, its reducer, and the cheapest check that proves the state valid."""

from dataclasses import dataclass
from typing import Any, cast

from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_core.paths import Segments, format_path
from wf_core.schemas import Check, ElementCheck, compile_element, compile_schema

JsonObject = dict[str, Any]

_PLAIN = frozenset(
    (
        "type",
        "properties",
        "required",
        "title",
        "description",
        "default",
        "examples",
        "$comment",
        "reducer",
        "deprecated",
        "readOnly",
        "writeOnly",
    )
)
"""Keywords under which a change below an existing property can only break that property's own schema."""


@dataclass(frozen=True, slots=True)
class Target:
    """A writable path."""

    path: Segments
    """Without `state`."""
    text: str
    """As it is written: `state.rows`."""
    reducer: str
    check: Check | None
    """Of the value at the path."""
    local: bool
    """`check` alone proves the field valid, provided that the object around the path was there before."""
    element: ElementCheck | None
    """Proves a list at the path valid after an append, from the element alone."""


class StateShape:
    """The declared state of a plan: defaults, reducers and checks."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema: JsonObject = schema if isinstance(schema, dict) else {}
        self._fields: dict[str, Check | None] = {}
        self._targets: dict[tuple[Segments, str | None], Target] = {}
        self.defaults = _defaults(self._schema)
        """Field -> value at start."""

    def field_check(self, name: str) -> Check | None:
        """Give the check of a top-level field, compiled once."""
        if name not in self._fields:
            known = name in _properties(self._schema)
            self._fields[name] = compile_schema(self._schema, ("properties", name)) if known else None
        return self._fields[name]

    def target(self, path: Segments, reducer: str | None = None) -> Target:
        """Give what is known of a writable path, compiled once. `reducer` overrules the declared one."""
        found = self._targets.get((path, reducer))
        if found is None:
            found = self._targets[path, reducer] = self._compile(path, reducer)
        return found

    def _starts_valid(self, name: str) -> bool:
        """Tell whether a default fits its schema; where it does not, each write is judged by the whole field."""
        check = self.field_check(name)
        return check is None or name not in self.defaults or check.accepts(self.defaults[name])

    def _compile(self, path: Segments, reducer: str | None) -> Target:
        document: JsonSchema = self._schema
        schema = document
        at: Segments = ()
        local = self._starts_valid(path[0])
        for depth, segment in enumerate(path):
            if depth and not (isinstance(schema, dict) and schema.keys() <= _PLAIN):
                local = False
            if segment not in _properties(schema):
                # Nothing is said about this place: it is open, and so is everything below it.
                document, at = {}, ()
            schema = _property(schema, segment)
            at = (*at, "properties", segment) if document else ()
        named = reducer or (str(schema.get("reducer", "replace")) if isinstance(schema, dict) else "replace")
        check = self.field_check(path[0]) if len(path) == 1 else compile_schema(document, at) if local else None
        element = compile_element(document, at) if named == "append" and local else None
        return Target(path, format_path(("state", *path)), named, check, local, element)


def _properties(schema: object) -> dict[str, JsonSchema]:
    """Give the property schemas that a schema names."""
    properties = cast("JsonObject", schema).get("properties") if isinstance(schema, dict) else None
    return cast("dict[str, JsonSchema]", properties) if isinstance(properties, dict) else {}


def _property(schema: JsonSchema, name: str) -> JsonSchema:
    """Give the schema of a property, open where nothing is said."""
    return _properties(schema).get(name, {})


def _defaults(schema: JsonObject) -> dict[str, JsonValue]:
    """Collect `default`s; a nested one brings its parent into being."""
    collected: dict[str, JsonValue] = {}
    for name, inner in _properties(schema).items():
        if not isinstance(inner, dict):
            continue
        nested = _defaults(inner)
        if "default" in inner:
            default: JsonValue = inner["default"]
            collected[name] = {**nested, **default} if isinstance(default, dict) else default
        elif nested:
            collected[name] = nested
    return collected
