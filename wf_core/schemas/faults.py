"""What makes a schema unusable, everything at once and each with its place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast

import jsonschema_rs as js

from wf_core.errors import NotJson
from wf_core.jsonvalue import check, quote
from wf_core.schemas.engine import build, describe, shown
from wf_core.schemas.expansion import overgrown
from wf_core.schemas.patterns import pattern_fault
from wf_core.schemas.pointers import pointer_to
from wf_core.schemas.references import REFERENCES, resolver_at, resolver_of

Schemas: TypeAlias = Mapping[str, dict[str, Any]]
"""JSON Pointer -> the schema that stands there."""


@dataclass(frozen=True, slots=True)
class SchemaIssue:
    """Something that makes a schema unusable."""

    pointer: str
    """JSON Pointer into the schema."""
    code: Literal["invalid_schema", "remote_ref"]
    message: str


def schema_issues(schema: object) -> list[SchemaIssue]:
    """Say everything that makes a schema unusable, with the place of each; nothing when it can be used."""
    try:
        check(schema, "schema")
    except NotJson as exc:
        return [SchemaIssue("", "invalid_schema", exc.message)]
    if isinstance(schema, bool):
        return []
    if not isinstance(schema, dict):
        return [SchemaIssue("", "invalid_schema", f"A schema is an object or a boolean, not {shown(schema)}.")]
    document = cast("dict[str, Any]", schema)
    schemas = dict(schemas_in(document))
    issues = [
        *_dialect_issues(document),
        *_metaschema_issues(document),
        *_pattern_issues(schemas),
        *_reference_issues(document, schemas),
    ]
    if not issues and (found := overgrown(document, schemas)):
        issues.append(SchemaIssue(found[0], "invalid_schema", found[1]))
    if not issues:
        try:
            build(document)
        except ValueError as exc:
            issues.append(refusal(exc))
    return issues


def refusal(exc: ValueError) -> SchemaIssue:
    """Say where and why a schema could not be compiled."""
    if isinstance(exc, js.ValidationError):
        return SchemaIssue(pointer_to(exc.instance_path), "invalid_schema", describe(exc))
    return SchemaIssue("", "invalid_schema", str(exc))


_IDENTITIES = frozenset({"$id", "id"})

# Where schemas stand inside a schema: as the value of a keyword, in its array, or under the names in its object.
_SINGLE = frozenset(
    {"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"}
    | {"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
)
_LISTED = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

_METASCHEMAS: Mapping[type[js.Validator], str] = {
    js.Draft4Validator: "http://json-schema.org/draft-04/schema#",
    js.Draft6Validator: "http://json-schema.org/draft-06/schema#",
    js.Draft7Validator: "http://json-schema.org/draft-07/schema#",
    js.Draft201909Validator: "https://json-schema.org/draft/2019-09/schema",
    js.Draft202012Validator: "https://json-schema.org/draft/2020-12/schema",
}


def _dialect_issues(document: dict[str, Any]) -> Iterator[SchemaIssue]:
    """Yield a `$schema` that names none of the drafts."""
    dialect = document.get("$schema")
    if isinstance(dialect, str):
        try:
            build({"$schema": dialect})
        except ValueError:
            yield SchemaIssue(
                "/$schema",
                "invalid_schema",
                f"{quote(dialect)} is no known dialect of JSON Schema; without $schema it is draft 2020-12.",
            )


def _metaschema_issues(document: dict[str, Any]) -> Iterator[SchemaIssue]:
    """Yield what is not as JSON Schema defines it, one issue for each place."""
    seen = set[str]()
    for error in _metaschema(js.validator_cls_for(document)).iter_errors(document):
        pointer = pointer_to(error.instance_path)
        if pointer not in seen:
            seen.add(pointer)
            yield SchemaIssue(pointer, "invalid_schema", describe(error))


@cache
def _metaschema(draft: type[js.Validator]) -> js.Validator:
    return js.validator_for({"$schema": _METASCHEMAS[draft], "$ref": _METASCHEMAS[draft]}, offline=True)


def _pattern_issues(schemas: Schemas) -> Iterator[SchemaIssue]:
    """Yield the patterns that the linear-time engine does not take."""
    for pointer, schema in schemas.items():
        named: object = schema.get("patternProperties")
        patterns: dict[str, object] = {f"{pointer}/pattern": schema.get("pattern")}
        if isinstance(named, dict):
            for pattern in cast("dict[str, Any]", named):
                patterns[pointer + pointer_to(("patternProperties", pattern))] = pattern
        for where, pattern in patterns.items():
            reason = pattern_fault(pattern) if isinstance(pattern, str) else None
            if reason is not None:
                yield SchemaIssue(where, "invalid_schema", reason)


def _reference_issues(document: dict[str, Any], schemas: Schemas) -> Iterator[SchemaIssue]:
    """Yield the references that leave the document or lead nowhere in it."""
    try:
        root = resolver_of(document)
    except ValueError as exc:
        yield SchemaIssue("", "invalid_schema", str(exc))
        return
    resolvers: dict[str, js.Resolver] = {}
    for pointer, schema in schemas.items():
        try:
            resolvers[pointer] = resolver_at(pointer, root)
        except js.ReferencingError as exc:
            if not _IDENTITIES.isdisjoint(schema):
                yield SchemaIssue(pointer, "invalid_schema", str(exc))
    inside = {resolver.base_uri for resolver in resolvers.values()}
    for pointer, resolver in resolvers.items():
        for keyword in REFERENCES:
            reference: object = schemas[pointer].get(keyword)
            if isinstance(reference, str):
                yield from _reference_issue(f"{pointer}/{keyword}", reference, resolver, inside)


def _reference_issue(pointer: str, reference: str, resolver: js.Resolver, inside: set[str]) -> Iterator[SchemaIssue]:
    document, _, fragment = reference.partition("#")
    if document and not _leads_inside(document, resolver, inside):
        reason = (
            f"{quote(reference)} leads out of this document, and nothing is fetched; put what it names under $defs."
        )
        yield SchemaIssue(pointer, "remote_ref", reason)
        return
    try:
        resolver.lookup(reference)
    except js.ReferencingError:
        yield SchemaIssue(
            pointer, "invalid_schema", f"{quote(reference)} leads nowhere: there is no {quote(fragment)}."
        )


def _leads_inside(address: str, resolver: js.Resolver, inside: set[str]) -> bool:
    try:
        return resolver.lookup(address).resolver.base_uri in inside
    except js.ReferencingError:
        return False


def schemas_in(schema: object, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and every schema written inside it, each with its place."""
    if isinstance(schema, dict):
        known = cast("dict[str, Any]", schema)
        yield pointer, known
        for steps, inner in _members(known):
            yield from schemas_in(inner, pointer + pointer_to(steps))


def _members(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield what stands directly in a schema where schemas belong, each with its place."""
    for keyword, value in schema.items():
        if keyword in _SINGLE:
            yield (keyword,), value
        if keyword in _LISTED and isinstance(value, list):
            yield from (((keyword, index), inner) for index, inner in enumerate(cast("list[Any]", value)))
        if keyword in _NAMED and isinstance(value, dict):
            yield from (((keyword, name), inner) for name, inner in cast("dict[str, Any]", value).items())
