"""Where a step may write, compiled: a state path with its reducer and the cheapest check that still proves the state valid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wf_core.jsonvalue import JsonValue
from wf_core.paths import format_path
from wf_core.schemas import Check, ElementCheck, compile_element, compile_schema

JsonSchema = dict[str, Any] | bool
Segments = tuple[str, ...]

_PLAIN = frozenset(
    ("type", "properties", "required", "title", "description", "default", "examples", "$comment", "reducer", "deprecated", "readOnly", "writeOnly")
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
        self._schema: Mapping[str, Any] = schema if isinstance(schema, dict) else {}
        self._fields: dict[str, Check | None] = {}
        self._targets: dict[tuple[Segments, str | None], Target] = {}
        self.defaults = _defaults(self._schema)
        """Field -> value at start."""

    def field_check(self, name: str) -> Check | None:
        """Give the check of a top-level field, compiled once."""
        if name not in self._fields:
            self._fields[name] = compile_schema(_with_definitions(_property(self._schema, name), self._schema))
        return self._fields[name]

    def target(self, path: Segments, reducer: str | None = None) -> Target:
        """Give what is known of a writable path, compiled once. `reducer` overrules the declared one."""
        found = self._targets.get((path, reducer))
        if found is None:
            found = self._targets[path, reducer] = self._compile(path, reducer)
        return found

    def _compile(self, path: Segments, reducer: str | None) -> Target:
        holder: Any = self._schema
        local = True
        for depth, segment in enumerate(path):
            if depth and not (isinstance(holder, dict) and holder.keys() <= _PLAIN):
                local = False
            holder = _property(holder, segment)
        schema: JsonSchema = holder
        if reducer is None:
            reducer = schema.get("reducer", "replace") if isinstance(schema, dict) else "replace"
        # A schema that refers to the document's definitions is judged with them; only the field as a whole has them at hand.
        refers = "$ref" in str(schema) or "$dynamicRef" in str(schema)
        local = local and not (refers and len(path) > 1)
        check = self.field_check(path[0]) if len(path) == 1 else compile_schema(schema) if local else None
        element = compile_element(schema) if reducer == "append" and local and not refers else None
        return Target(path, format_path(("state", *path)), reducer, check, local, element)


def _property(schema: Any, name: str) -> Any:
    """Give the schema of a property, open where nothing is said."""
    if isinstance(schema, dict):
        properties: Any = schema.get("properties")
        if isinstance(properties, dict) and name in properties:
            return properties[name]
    return {}


def _with_definitions(schema: Any, root: Mapping[str, Any]) -> JsonSchema:
    """Let a property's schema refer to the definitions of the document that it stands in."""
    if isinstance(schema, dict) and "$defs" in root and "$defs" not in schema:
        return {**schema, "$defs": root["$defs"]}
    return schema


def _defaults(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Collect `default`s; a nested one brings its parent into being."""
    collected: dict[str, JsonValue] = {}
    properties: Any = schema.get("properties")
    if not isinstance(properties, dict):
        return collected
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            continue
        nested = _defaults(inner)
        if "default" in inner:
            default = inner["default"]
            collected[name] = {**nested, **default} if isinstance(default, dict) else default
        elif nested:
            collected[name] = nested
    return collected
