"""Why a value does not fit a schema that leads back into itself, or branches often, at a bounded cost.

The engine explains by going every way that a schema offers, each time anew: where two alternatives lead into the same
part, the ways double with each level of the value. Its judgment does not: it knows what it has judged. So here only
the parts that do not fit are entered, each once, until enough was looked at.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

import jsonschema_rs as js

from wf_core.jsonvalue import JsonSchema, JsonValue, dumps, place
from wf_core.schemas.engine import SHOWN_ALTERNATIVES, build, build_places, clipped, describe, shown
from wf_core.schemas.expansion import Graph, tangle
from wf_core.schemas.faults import schemas_in
from wf_core.schemas.patterns import compile_pattern
from wf_core.schemas.pointers import pointer_to
from wf_core.schemas.references import REFERENCES

Path = tuple[str | int, ...]
Found = tuple[Path, str]
"""The place of a problem inside a value, and what it is."""

MOST_PARTS: Final = 200
"""How many parts of a value that do not fit a schema are looked into; so deep, too, are they looked for."""
MOST_BYTES: Final = 20_000_000
"""How much is judged on the way, as compact JSON, each part as often as it is judged."""
_A_JUDGMENT: Final = 100
"""What judging costs whatever the value is, in bytes."""

_WITH_SCHEMAS = frozenset(
    {*REFERENCES, "$defs", "definitions", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains"}
    | {"minContains", "maxContains", "dependentSchemas", "dependencies", "propertyNames", "items", "prefixItems"}
    | {"additionalItems", "additionalProperties", "properties", "patternProperties"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_REFERENCE_ALONE = frozenset({js.Draft4Validator, js.Draft6Validator, js.Draft7Validator})
"""The drafts in which nothing counts that stands beside a reference."""


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains what the schema at one place of a document has against values."""

    root: str
    """The place, a JSON Pointer."""
    graph: Graph
    judge: js.Validator
    """Of `{place: value}`, for every place to which the root leads."""
    dialect: dict[str, Any]
    """The keyword that says how schemas are to be read, where one does."""
    reference_alone: bool
    """Whether nothing counts that stands beside a reference."""

    def problems(self, value: JsonValue, limit: int) -> list[Found]:
        """Say what keeps a value, which does not fit, from fitting: up to `limit` problems, at least one."""
        return _Explanation(self, limit).of(self.root, value)


def explainer(document: JsonSchema, root: str) -> Explainer | None:
    """Give what explains the schema at `root`, a JSON Pointer, of a document. None where the engine does it as well."""
    if not isinstance(document, dict):
        return None
    graph = Graph(document, dict(schemas_in(document)))
    places = tangle(graph, root)
    if places is None:
        return None
    dialect = {keyword: said for keyword, said in document.items() if keyword == "$schema"}
    alone = js.validator_cls_for(document) in _REFERENCE_ALONE
    return Explainer(root, graph, build_places(document, places), dialect, alone)


class _Explanation:
    """One value's, as far as it has come."""

    def __init__(self, explainer: Explainer, limit: int) -> None:
        self._explainer = explainer
        self._graph = explainer.graph
        self._limit = limit
        self._known: dict[tuple[str, int], list[Found]] = {}
        self._sizes: dict[int, int] = {}
        self._parts_left = MOST_PARTS
        self._bytes_left = MOST_BYTES

    def of(self, where: str, value: JsonValue) -> list[Found]:
        """Explain a value that does not fit the schema at a place, if it was not yet."""
        key = (where, id(value))
        found = self._known.get(key)
        if found is None:
            self._parts_left -= 1
            if self._is_spent():
                return [_unexplained(value)]
            found = list(islice(self._look(where, value), self._limit)) or [_unexplained(value)]
            self._known[key] = found
        return found

    def _look(self, where: str, value: JsonValue) -> Iterator[Found]:
        schema = self._graph.schema(where)
        if not isinstance(schema, dict):
            yield (), f"{shown(value)} is not allowed here"
            return
        known = cast("dict[str, Any]", schema)
        references = [target for keyword in REFERENCES for target in self._graph.targets(where, known.get(keyword))]
        if references and self._explainer.reference_alone:
            known = {}
        yield from self._own(known, value)
        whole = [*references, *_below(where, "allOf", known.get("allOf"))]
        if "if" in known:
            branch = "then" if self._fits(f"{where}/if", value) else "else"
            whole += [f"{where}/{branch}"] if branch in known else []
        yield from self._entered((inner, (), value) for inner in whole)
        yield from self._alternatives(where, known, value)
        yield from self._entered(_parts(where, known, value))

    def _own(self, schema: dict[str, Any], value: JsonValue) -> Iterator[Found]:
        """Yield what the keywords that hold no schemas have against a value."""
        plain = {keyword: said for keyword, said in schema.items() if keyword not in _WITH_SCHEMAS}
        if schema.get("additionalProperties") is False:
            plain["additionalProperties"] = False
            for keyword in ("properties", "patternProperties"):
                if keyword in schema:
                    plain[keyword] = dict.fromkeys(schema[keyword], True)
        for error in build(plain | self._explainer.dialect).iter_errors(value):
            yield tuple(error.instance_path), describe(error)

    def _alternatives(self, where: str, schema: dict[str, Any], value: JsonValue) -> Iterator[Found]:
        for keyword in ("anyOf", "oneOf"):
            branches = _below(where, keyword, schema.get(keyword))
            fitting = sum(self._fits(branch, value) for branch in branches)
            if branches and not fitting:
                firsts = [self.of(branch, value)[0] for branch in branches[:SHOWN_ALTERNATIVES]]
                reasons = "; ".join([clipped(_inside(*first)) for first in firsts])
                yield (), f"{shown(value)} fits none of the alternatives: {reasons}"
            elif keyword == "oneOf" and fitting > 1:
                yield (), f"{shown(value)} fits more than one of the alternatives"
        if "not" in schema and self._fits(f"{where}/not", value):
            yield (), f"{shown(value)} is what is ruled out"

    def _entered(self, parts: Iterable[tuple[str, Path, JsonValue]]) -> Iterator[Found]:
        """Yield what is wrong with those parts of a value, each for a schema, that do not fit."""
        for inner, path, part in parts:
            if self._is_spent():
                return
            if not self._fits(inner, part):
                yield from (((*path, *below), message) for below, message in self.of(inner, part))

    def _fits(self, where: str, value: JsonValue) -> bool:
        self._bytes_left -= _A_JUDGMENT + self._size(value)
        return self._is_spent() or self._explainer.judge.is_valid({where: value})

    def _size(self, value: JsonValue) -> int:
        if not isinstance(value, (dict, list)):
            return len(value) if isinstance(value, str) else 1
        if id(value) not in self._sizes:
            self._sizes[id(value)] = len(dumps(value))
        return self._sizes[id(value)]

    def _is_spent(self) -> bool:
        return self._parts_left < 0 or self._bytes_left < 0


def _parts(where: str, schema: dict[str, Any], value: JsonValue) -> Iterator[tuple[str, Path, JsonValue]]:
    """Yield the parts of a value for which a schema has others: the places of those, and where the parts are."""
    if isinstance(value, dict):
        for name in value:
            yield from _members(where, schema, value, name)
    elif isinstance(value, list):
        keyword = "prefixItems" if "prefixItems" in schema else "items"
        first = _below(where, keyword, schema.get(keyword))
        rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
        for index, part in enumerate(value):
            if index < len(first):
                yield first[index], (index,), part
            elif rest in schema:
                yield f"{where}/{rest}", (index,), part


def _members(
    where: str, schema: dict[str, Any], value: dict[str, JsonValue], name: str
) -> Iterator[tuple[str, Path, JsonValue]]:
    """Yield what a schema has others for because an object has a member of this name."""
    keywords = ["properties"] if name in schema.get("properties", {}) else []
    patterns = [one for one in schema.get("patternProperties", {}) if compile_pattern(one).matches(name)]
    for keyword in keywords:
        yield where + pointer_to((keyword, name)), (name,), value[name]
    for pattern in patterns:
        yield where + pointer_to(("patternProperties", pattern)), (name,), value[name]
    if not keywords and not patterns and schema.get("additionalProperties", False) is not False:
        yield f"{where}/additionalProperties", (name,), value[name]
    if "propertyNames" in schema:
        yield f"{where}/propertyNames", (), name
    for keyword in ("dependentSchemas", "dependencies"):
        if not isinstance(schema.get(keyword, {}).get(name, []), list):
            yield where + pointer_to((keyword, name)), (), value


def _below(where: str, keyword: str, schemas: JsonSchema | list[Any] | None) -> list[str]:
    """Give the places of the schemas that a keyword lists, none where it holds no list."""
    return [f"{where}/{keyword}/{index}" for index in range(len(schemas))] if isinstance(schemas, list) else []


def _inside(path: Path, message: str) -> str:
    return f"{place('', path)}: {message}" if path else message


def _unexplained(value: JsonValue) -> Found:
    return (), f"{shown(value)} does not fit"
