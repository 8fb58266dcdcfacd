"""The plan's own schemas: whether they can be used, and what they say about a path.

A path is refused only where a schema closes its properties; where it says nothing, anything may be there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from wf_core.jsonvalue import JsonSchema
from wf_core.paths import Segments
from wf_core.plan import REDUCERS
from wf_core.schemas import schema_issues
from wf_core.schemas.engine import shown
from wf_core.schemas.pointers import split_pointer
from wf_core.validation.report import Findings

ALL_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

Conjuncts = list[dict[str, Any]]
"""Schemas that all hold at one place."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Where a path leaves what a schema allows."""

    position: int
    """Index of the first segment that cannot exist."""
    known: tuple[str, ...]
    """The properties that the schema knows there."""


def check_schema(schema: JsonSchema, found: Findings) -> None:
    """Report what makes a schema unusable: faults against its metaschema, foreign references, patterns."""
    for issue in schema_issues(schema):
        found.at(*split_pointer(issue.pointer)).error(issue.code, issue.message)


def check_reducers(state_schema: JsonSchema, found: Findings) -> None:
    """Report names of reducers that do not exist."""
    pending: list[tuple[object, Findings]] = [(state_schema, found)]
    while pending:
        schema, here = pending.pop()
        for name, inner in properties_of(schema).items():
            place = here.at("properties", name)
            pending.append((inner, place))
            reducer: object = (
                cast("dict[str, Any]", inner).get("reducer", "replace") if isinstance(inner, dict) else "replace"
            )
            if not isinstance(reducer, str) or reducer not in REDUCERS:
                message = f"{shown(reducer)} is no reducer."
                place.at("reducer").unknown("unknown_reducer", message, str(reducer), REDUCERS)


def properties_of(schema: object) -> dict[str, Any]:
    """Give the property schemas of a schema, as far as they are written in place."""
    properties = _keyword(schema, "properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def required_of(schema: object) -> list[str]:
    """Give the properties that a schema requires, as far as they are written in place."""
    required = _keyword(schema, "required")
    return [name for name in cast("list[Any]", required) if isinstance(name, str)] if isinstance(required, list) else []


def reducer_at(state_schema: JsonSchema, segments: Segments) -> str:
    """Name the reducer that belongs to exactly this path."""
    schema: Any = state_schema
    for segment in segments:
        schema = properties_of(schema).get(segment)
    reducer = _keyword(schema, "reducer")
    return reducer if isinstance(reducer, str) else "replace"


def first_gap(schema: JsonSchema, segments: Segments) -> Gap | None:
    """Find where a path enters a closed schema that does not have it. None where it may exist."""
    for position, conjuncts in enumerate(_levels(schema, segments)):
        for conjunct in conjuncts:
            if position < len(segments) and _closed_to(conjunct, segments[position]):
                return Gap(position, tuple(properties_of(conjunct)))
    return None


def check_exists(schema: JsonSchema, segments: Segments, code: str, owner: str, found: Findings) -> None:
    """Report a path that enters a closed schema which does not have it. `owner` names the schema in the message."""
    gap = first_gap(schema, segments)
    if gap is not None:
        name = segments[gap.position]
        found.unknown(code, f"{owner} has no `{name}` there.", name, gap.known)


def array_on_the_way(schema: JsonSchema, segments: Segments) -> int | None:
    """Find the first segment that would lead into an array. None where no schema on the way says array."""
    for position, conjuncts in enumerate(_levels(schema, segments)):
        if position < len(segments) and any(_types(conjunct) == {"array"} for conjunct in conjuncts):
            return position
    return None


def schemas_at(schema: JsonSchema, segments: Segments) -> Conjuncts:
    """Give the schemas that hold at the end of a path; none where nothing is said about it."""
    *_, last = _levels(schema, segments)
    return last


def types_at(schema: JsonSchema, segments: Segments) -> frozenset[str]:
    """Name the types that a value at a path can have; a number may be an integer."""
    allowed = ALL_TYPES
    for conjunct in schemas_at(schema, segments):
        named = _types(conjunct)
        allowed &= named | {"integer"} if "number" in named else named
    return allowed


def always_there(schema: JsonSchema, segments: Segments) -> bool:
    """Say whether a schema requires every segment of a path."""
    return all(
        any(segment in required_of(conjunct) for conjunct in conjuncts)
        for segment, conjuncts in zip(segments, _levels(schema, segments), strict=False)
    )


def _levels(schema: JsonSchema, segments: Segments) -> Iterator[Conjuncts]:
    """Yield the schemas that hold at the root, and after each segment."""
    conjuncts = _conjuncts([schema], schema)
    yield conjuncts
    for segment in segments:
        inner = [found for conjunct in conjuncts for found in _inner(conjunct, segment)]
        conjuncts = _conjuncts(inner, schema)
        yield conjuncts


def _conjuncts(schemas: list[Any], root: JsonSchema) -> Conjuncts:
    """Follow references within the document and `allOf`: everything that must hold together."""
    found: dict[int, dict[str, Any]] = {}
    for schema in (pending := list(schemas)):
        if not isinstance(schema, dict) or id(cast("object", schema)) in found:
            continue
        known = cast("dict[str, Any]", schema)
        found[id(known)] = known
        if isinstance(known.get("$ref"), str):
            pending.append(_resolve(root, known["$ref"]))
        if isinstance(known.get("allOf"), list):
            pending.extend(known["allOf"])
    return list(found.values())


def _resolve(root: JsonSchema, reference: str) -> object:
    """Look up `#/…` in the document; None for anything else."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    current: object = root
    for segment in split_pointer(reference[1:]):
        current = _keyword(current, segment)
    return current


def _inner(schema: Mapping[str, Any], segment: str) -> list[Any]:
    """Give the schemas that this one applies to a member."""
    properties = properties_of(schema)
    if segment in properties:
        return [properties[segment]]
    if segment.isdecimal() and "array" in _types(schema):
        prefix = schema.get("prefixItems")
        if isinstance(prefix, list) and len(segment) < 10 and int(segment) < len(cast("list[Any]", prefix)):
            return [prefix[int(segment)]]
        return [schema.get("items")]
    return [schema.get("additionalProperties")]


def _closed_to(schema: Mapping[str, Any], segment: str) -> bool:
    """Say whether no member of this name can exist."""
    if schema.get("additionalProperties") is not False or schema.get("patternProperties"):
        return False
    return segment not in properties_of(schema) and not (segment.isdecimal() and "array" in _types(schema))


def _types(schema: Mapping[str, Any]) -> set[str]:
    """Name the types that a schema allows; all where it names none."""
    named = schema.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {name for name in cast("list[Any]", named) if isinstance(name, str)}
    return set(ALL_TYPES)


def _keyword(schema: object, keyword: str) -> object:
    """Give what a schema says under a keyword; None where it does not have it."""
    return cast("dict[str, Any]", schema).get(keyword) if isinstance(schema, dict) else None
