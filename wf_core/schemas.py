"""JSON Schemas: compiled once, asked often, and never a reason to fetch anything.

Owns compiling, checking values, and saying what is wrong with a schema; draft 2020-12 unless `$schema` says otherwise.
References stay inside the document, patterns match in linear time, `format` only annotates, and keywords that nobody
knows, like the plan's own `reducer`, are ignored. What a schema says about paths is `wf_core.validation`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import jsonschema_rs as js

from wf_core.errors import InvalidSchema, NotJson
from wf_core.jsonvalue import JsonValue, check, dumps, place, quote

JsonSchema: TypeAlias = dict[str, Any] | bool


@dataclass(frozen=True, slots=True)
class SchemaIssue:
    """Something that makes a schema unusable."""

    pointer: str
    """JSON Pointer into the schema."""
    code: str
    """`invalid_schema` or `remote_ref`."""
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A place at which a value does not fit a schema."""

    where: str
    """As in `state.items[3].when`."""
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Check:
    """A compiled schema. Values are strict JSON: they went through `jsonvalue.check` when they entered."""

    __slots__ = ("_validator", "accepts")

    def __init__(self, validator: js.Validator) -> None:
        self._validator = validator
        self.accepts = validator.is_valid
        """`accepts(value) -> bool`: whether a value fits."""

    def problems(self, value: JsonValue, where: str, limit: int = 10) -> list[Problem]:
        """Say what keeps a value from fitting, the first `limit` problems; none when it fits."""
        found = islice(self._validator.iter_errors(value), limit)
        return [Problem(place(where, error.instance_path), _describe(error)) for error in found]


class ElementCheck:
    """What an array schema asks of one more element, at a cost that does not grow with the array."""

    __slots__ = ("_fewest", "_items", "_most")

    def __init__(self, items: Check | None, fewest: float, most: float) -> None:
        self._items = items
        self._fewest = fewest
        self._most = most

    def accepts(self, element: JsonValue, length_after: int) -> bool:
        """Tell whether a valid list is valid still, now that it has `length_after` elements, `element` the last."""
        if not self._fewest <= length_after <= self._most:
            return False
        return self._items is None or self._items.accepts(element)


class Pattern:
    """A JSON Schema pattern: it may match anywhere in a text, and takes time linear in its length."""

    __slots__ = ("matches",)

    def __init__(self, validator: js.Validator) -> None:
        self.matches = validator.is_valid
        """`matches(text) -> bool`."""


def compile_schema(schema: JsonSchema) -> Check | None:
    """Compile a schema; None when it accepts everything, so that there is nothing to ask.

    Raises:
        InvalidSchema: saying what `schema_issues` says; its `details` hold every issue.
    """
    if schema is True or (isinstance(schema, dict) and schema.keys() <= _ANNOTATIONS):
        return None
    try:
        return Check(_build(schema))
    except ValueError as exc:
        issues = schema_issues(schema) or [_refusal(exc)]
        raise InvalidSchema(
            "The schema cannot be used: "
            + "; ".join(f"{issue.pointer or 'the schema'}: {issue.message}" for issue in issues[:_SHOWN_ISSUES]),
            details={"issues": [{"pointer": i.pointer, "code": i.code, "message": i.message} for i in issues]},
        ) from exc


def compile_element(schema: JsonSchema) -> ElementCheck | None:
    """Compile an array schema for appending. None where judging one element alone would not do.

    That is the case unless the schema consists of `type`, `items`, `minItems`, `maxItems` and annotations, and refers
    to nothing.

    Raises:
        InvalidSchema: the schema of the items cannot be used.
    """
    if not isinstance(schema, dict) or not schema.keys() <= _ELEMENT_KEYWORDS or _refers(schema):
        return None
    kinds = schema.get("type", "array")
    if "array" not in (kinds if isinstance(kinds, list) else [kinds]):
        return None
    items = schema.get("items", True)
    if not isinstance(items, (dict, bool)):
        return None
    return ElementCheck(compile_schema(items), schema.get("minItems", 0), schema.get("maxItems", float("inf")))


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern with JSON Schema's meaning.

    Raises:
        InvalidSchema: the pattern is malformed or too large, or needs look-around or back-references, which cannot be
            matched in linear time.
    """
    reason = _pattern_fault(pattern)
    if reason is not None:
        raise InvalidSchema(reason)
    return Pattern(_build({"pattern": pattern}))


def schema_issues(schema: object) -> list[SchemaIssue]:
    """Say everything that makes a schema unusable, with the place of each; nothing when it can be used."""
    try:
        check(schema, "schema")
    except NotJson as exc:
        return [SchemaIssue("", _INVALID, exc.message)]
    if isinstance(schema, bool):
        return []
    if not isinstance(schema, dict):
        return [SchemaIssue("", _INVALID, f"A schema is an object or a boolean, not {_shown(schema)}.")]
    document = cast("dict[str, Any]", schema)
    issues = [*_metaschema_issues(document), *_pattern_issues(document), *_reference_issues(document)]
    if not issues:
        try:
            _build(document)
        except ValueError as exc:
            issues.append(_refusal(exc))
    return issues


_INVALID: Final = "invalid_schema"
_REMOTE: Final = "remote_ref"
_SHOWN_ISSUES = 3
_SHOWN_ALTERNATIVES = 5
_SHOWN_LENGTH = 240

_ANNOTATIONS = frozenset(
    {
        "$comment",
        "default",
        "deprecated",
        "description",
        "examples",
        "format",
        "readOnly",
        "reducer",
        "title",
        "writeOnly",
    }
)
_ELEMENT_KEYWORDS = _ANNOTATIONS | {"type", "items", "minItems", "maxItems"}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_ONE = ("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not")
_ONE += ("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties")
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")

_BASE = "json-schema:///"
"""Stands for the address of a document that names none: nothing can be fetched from there."""

_METASCHEMAS: Mapping[type[js.Validator], str] = {
    js.Draft4Validator: "http://json-schema.org/draft-04/schema#",
    js.Draft6Validator: "http://json-schema.org/draft-06/schema#",
    js.Draft7Validator: "http://json-schema.org/draft-07/schema#",
    js.Draft201909Validator: "https://json-schema.org/draft/2019-09/schema",
    js.Draft202012Validator: "https://json-schema.org/draft/2020-12/schema",
}


def _build(schema: JsonSchema) -> js.Validator:
    """Compile; a `js.ValidationError` or other `ValueError` where the schema cannot be used."""
    return js.validator_for(schema, validate_formats=False, pattern_options=js.RegexOptions(), offline=True)


def _refusal(exc: ValueError) -> SchemaIssue:
    """Say where and why a schema could not be compiled."""
    if isinstance(exc, js.ValidationError):
        return SchemaIssue(_pointer(exc.instance_path), _INVALID, _describe(exc))
    return SchemaIssue("", _INVALID, str(exc))


@cache
def _metaschema(draft: type[js.Validator]) -> js.Validator:
    return js.validator_for({"$schema": _METASCHEMAS[draft], "$ref": _METASCHEMAS[draft]}, offline=True)


def _metaschema_issues(document: dict[str, Any]) -> Iterator[SchemaIssue]:
    """Yield what is not as JSON Schema defines it, one issue for each place."""
    seen = set[str]()
    for error in _metaschema(js.validator_cls_for(document)).iter_errors(document):
        pointer = _pointer(error.instance_path)
        if pointer not in seen:
            seen.add(pointer)
            yield SchemaIssue(pointer, _INVALID, _describe(error))


def _pattern_issues(document: dict[str, Any]) -> Iterator[SchemaIssue]:
    """Yield the patterns that the linear-time engine does not take."""
    for pointer, schema, _ in _subschemas(document, "", None):
        named = schema.get("patternProperties")
        patterns = {f"{pointer}/pattern": schema.get("pattern")}
        if isinstance(named, dict):
            for pattern in cast("dict[str, Any]", named):
                patterns[f"{pointer}{_pointer(('patternProperties', pattern))}"] = pattern
        for where, pattern in patterns.items():
            reason = _pattern_fault(pattern) if isinstance(pattern, str) else None
            if reason is not None:
                yield SchemaIssue(where, _INVALID, reason)


def _pattern_fault(pattern: str) -> str | None:
    """Say why a pattern cannot be used, or None."""
    try:
        _build({"pattern": pattern})
    except ValueError:
        pass
    else:
        return None
    try:
        js.validator_for({"pattern": pattern}, offline=True)
    except ValueError:
        return f"{quote(pattern)} is no regular expression, or too large a one."
    return f"{quote(pattern)} needs look-around or back-references, which cannot be matched in linear time."


def _reference_issues(document: dict[str, Any]) -> Iterator[SchemaIssue]:
    """Yield the references that leave the document or lead nowhere in it."""
    try:
        # Whatever lies outside is taken for an empty schema, never fetched: only where references lead matters here.
        registry = js.Registry([(_BASE, document)], retriever=lambda _: True)
        root = registry.resolver(_BASE).lookup("#").resolver
    except ValueError as exc:
        yield SchemaIssue("", _INVALID, str(exc))
        return
    places = list(_subschemas(document, "", root))
    inside = {_BASE} | {resolver.base_uri for _, _, resolver in places if resolver is not None}
    for pointer, schema, resolver in places:
        for keyword in _REFERENCES:
            reference = schema.get(keyword)
            if isinstance(reference, str) and resolver is not None:
                yield from _reference_issue(f"{pointer}/{keyword}", reference, resolver, inside)


def _reference_issue(pointer: str, reference: str, resolver: js.Resolver, inside: set[str]) -> Iterator[SchemaIssue]:
    document, _, fragment = reference.partition("#")
    try:
        if document and resolver.lookup(document).resolver.base_uri not in inside:
            raise js.ReferencingError(document)
    except js.ReferencingError:
        yield SchemaIssue(
            pointer,
            _REMOTE,
            f"{quote(reference)} leads out of this document; nothing is fetched, so put it under $defs.",
        )
        return
    try:
        resolver.lookup(reference)
    except js.ReferencingError:
        yield SchemaIssue(pointer, _INVALID, f"{quote(reference)} leads nowhere: there is no {quote(fragment)}.")


def _subschemas(
    schema: object, pointer: str, resolver: js.Resolver | None
) -> Iterator[tuple[str, dict[str, Any], js.Resolver | None]]:
    """Yield a schema and every schema written inside it, each with what resolves its references."""
    if not isinstance(schema, dict):
        return
    known = cast("dict[str, Any]", schema)
    identity = known.get("$id")
    if resolver is not None and isinstance(identity, str):
        try:
            resolver = resolver.lookup(identity).resolver
        except js.ReferencingError:
            resolver = None
    yield pointer, known, resolver
    for steps, inner in _members(known):
        yield from _subschemas(inner, pointer + _pointer(steps), resolver)


def _members(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the schemas that stand directly in one, each with its place."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield (keyword,), value
        if keyword in _LIST and isinstance(value, list):
            yield from (((keyword, index), inner) for index, inner in enumerate(cast("list[Any]", value)))
        if keyword in _NAMED and isinstance(value, dict):
            yield from (((keyword, name), inner) for name, inner in cast("dict[str, Any]", value).items())


def _refers(value: object) -> bool:
    """Tell whether a reference may be anywhere inside."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return any(keyword in members for keyword in _REFERENCES) or any(_refers(inner) for inner in members.values())
    return isinstance(value, list) and any(_refers(inner) for inner in cast("list[Any]", value))


def _pointer(steps: Iterator[str | int] | list[str | int] | tuple[str | int, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _describe(error: js.ValidationError) -> str:
    """Say what is wrong, in one readable line however large the value is."""
    kind = error.kind
    if isinstance(kind, js.ValidationErrorKind.AnyOf | js.ValidationErrorKind.OneOfNotValid):
        firsts = [branch[0] for branch in kind.context[:_SHOWN_ALTERNATIVES] if branch]
        reasons = "; ".join(_describe_inside(first, error) for first in firsts)
        return f"{_shown(error.instance)} fits none of the alternatives: {reasons}"
    if isinstance(kind, js.ValidationErrorKind.Enum):
        return f"{_shown(error.instance)} is none of {_clipped(', '.join(_shown(option) for option in kind.options))}"
    if isinstance(kind, js.ValidationErrorKind.FalseSchema):
        if error.schema_path[-1:] == ["additionalProperties"]:
            return "no properties are allowed here"
        return f"{_shown(error.instance)} is not allowed here"
    return _clipped(error.message)


def _describe_inside(error: js.ValidationError, outer: js.ValidationError) -> str:
    """Describe what keeps an alternative from fitting, naming the place below the value that has alternatives."""
    inner = place("", error.instance_path[len(outer.instance_path) :])
    return f"{inner}: {_describe(error)}" if inner else _describe(error)


def _shown(value: object) -> str:
    return _clipped(dumps(value).decode())


def _clipped(text: str) -> str:
    """Leave out the middle: a message starts with the value and ends with what is wrong with it."""
    if len(text) <= _SHOWN_LENGTH:
        return text
    half = _SHOWN_LENGTH // 2
    return f"{text[:half]} … {text[-half:]}"
