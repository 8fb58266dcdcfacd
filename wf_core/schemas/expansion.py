"""How often a schema asks about one value, once every reference is followed.

A few dozen definitions that each refer to the last one twice ask a trillion times: such a schema stops whoever uses it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import jsonschema_rs as js

from wf_core.schemas.pointers import from_fragment, pointer_to, split_pointer
from wf_core.schemas.references import REFERENCES, resolver_at, resolver_of

MOST_QUESTIONS = 10_000
"""About one value. Far more than schemas written for data ask."""
PLAIN_QUESTIONS = 200
"""About one value: so many and no more are asked by a schema whose ways can all be gone."""

_SAME_VALUE = frozenset({"else", "if", "not", "then"})
_SAME_VALUE_LISTED = frozenset({"allOf", "anyOf", "oneOf"})
_SAME_VALUE_NAMED = frozenset({"dependencies", "dependentSchemas"})
_EVERY_PART = frozenset(
    {"additionalItems", "additionalProperties", "contains", "items", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_ONE_PART = frozenset({"items", "prefixItems", "properties"})
"""Each schema in it is for another part of the value."""
_TIMES_UNEVALUATED = 4
"""How often the validator asks again to find out what no other keyword has looked at."""


def overgrown(document: dict[str, Any], places: Mapping[str, dict[str, Any]]) -> tuple[str, str] | None:
    """Say where, as a JSON Pointer, a schema never ends or asks too often, and what is wrong with it.

    `places` holds every schema that is written in the document. All references must lead somewhere in it.
    """
    graph = Graph(document, places)
    loops = _visit(places, lambda place: graph.at(place).same_value)[1]
    if loops:
        return loops[0], "This schema refers back to itself without going into the value."
    questions: dict[str, int] = {}
    for place in _visit(places, lambda place: graph.at(place).everything)[0]:
        questions[place] = graph.at(place).questions(questions)
        if questions[place] > MOST_QUESTIONS:
            return place, f"With every reference followed, this asks more than {MOST_QUESTIONS} times about one value."
    return None


def tangle(graph: "Graph", root: str) -> list[str] | None:
    """Give every place that the schema at `root` leads to, if it leads back into itself or branches often, else None.

    To go all its ways may take a time that is exponential in the depth of a value.
    """
    order, loops = _visit([root], lambda place: graph.at(place).everything)
    questions: dict[str, int] = {}
    for place in order:
        questions[place] = graph.at(place).questions(questions)
    return order if loops or questions[root] > PLAIN_QUESTIONS else None


@dataclass(frozen=True, slots=True)
class _Node:
    """The places of the schemas that one schema asks, by what it asks them about."""

    same_value: tuple[str, ...]
    every_part: tuple[str, ...]
    one_part: tuple[str, ...]
    asks_again: bool

    @property
    def everything(self) -> tuple[str, ...]:
        return self.same_value + self.every_part + self.one_part

    def questions(self, known: Mapping[str, int]) -> int:
        """Count the questions about one value. What a recursive schema asks of the next level is left out."""
        same_value = sum(known.get(place, 0) for place in self.same_value)
        every_part = sum(known.get(place, 0) for place in self.every_part)
        one_part = max((known.get(place, 0) for place in self.one_part), default=0)
        return 1 + same_value * (_TIMES_UNEVALUATED if self.asks_again else 1) + every_part + one_part


class Graph:
    """The schemas of a document and where each leads; those that only a reference tells to be schemas too."""

    def __init__(self, document: dict[str, Any], places: Mapping[str, dict[str, Any]]) -> None:
        self._document = document
        self._resolver = resolver_of(document)
        self._nodes: dict[str, _Node] = {}
        self._roots = {self._resolver.base_uri: ""}
        """Address -> place, of the document and of the schemas in it that have an address of their own."""
        self._anchors: dict[str, list[str]] = {}
        for place, schema in places.items():
            self._note_names(place, schema)

    def at(self, place: str) -> _Node:
        """Give where the schema at a place leads."""
        if place not in self._nodes:
            self._nodes[place] = self._read(place)
        return self._nodes[place]

    def schema(self, place: str) -> Any:
        """Give what stands at a place, None where there is nothing."""
        return _standing_at(self._document, place)

    def targets(self, place: str, reference: object) -> list[str]:
        """Give where a reference at a place may lead: which of several anchors of one name counts, the value tells."""
        if not isinstance(reference, str):
            return []
        address, _, fragment = reference.partition("#")
        fragment = from_fragment(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, [])
        root = self._root_of(place, address)
        return [] if root is None else [root + fragment]

    def _note_names(self, place: str, schema: dict[str, Any]) -> None:
        name = schema.get("$id", schema.get("id"))
        if isinstance(name, str):
            address, _, anchor = name.partition("#")
            if address:
                self._roots.setdefault(resolver_at(place, self._resolver).base_uri, place)
            if anchor:
                self._anchors.setdefault(anchor, []).append(place)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(keyword), str):
                self._anchors.setdefault(anchor, []).append(place)

    def _read(self, place: str) -> _Node:
        schema = _standing_at(self._document, place)
        if not isinstance(schema, dict):
            return _Node((), (), (), asks_again=False)
        known = cast("dict[str, Any]", schema)
        same_value, every_part, one_part = list[str](), list[str](), list[str]()
        for keyword, value in known.items():
            here = place + pointer_to([keyword])
            if keyword in REFERENCES:
                same_value += self.targets(place, value)
            elif keyword in _SAME_VALUE:
                same_value.append(here)
            elif keyword in _SAME_VALUE_LISTED or keyword in _SAME_VALUE_NAMED:
                same_value += _inside(here, value)
            elif keyword == "patternProperties":
                every_part += _inside(here, value)
            elif keyword in _ONE_PART and (keyword != "items" or isinstance(cast("object", value), list)):
                one_part += _inside(here, value)
            elif keyword in _EVERY_PART:
                every_part.append(here)
        asks_again = "unevaluatedItems" in known or "unevaluatedProperties" in known
        return _Node(tuple(same_value), tuple(every_part), tuple(one_part), asks_again)

    def _root_of(self, place: str, address: str) -> str | None:
        """Give the place of the schema that an address names where it stands at a place; an empty one names its own."""
        if not address and len(self._roots) == 1:
            return ""
        try:
            resolver = resolver_at(place, self._resolver)
            return self._roots.get((resolver.lookup(address).resolver if address else resolver).base_uri)
        except js.ReferencingError:
            return None


def _visit(starts: Iterable[str], leads: Callable[[str], Iterable[str]]) -> tuple[list[str], list[str]]:
    """Give every place that can be reached, after those it leads to, and the places at which a loop closes."""
    order, loops, open_places, seen = list[str](), list[str](), set[str](), set[str]()
    for start in starts:
        way = [(start, iter(leads(start)))] if start not in seen else []
        seen.add(start)
        open_places.add(start)
        while way:
            place, rest = way[-1]
            following = next(rest, None)
            if following is None:
                way.pop()
                open_places.discard(place)
                order.append(place)
            elif following not in seen:
                seen.add(following)
                open_places.add(following)
                way.append((following, iter(leads(following))))
            elif following in open_places:
                loops.append(following)
        open_places.clear()
    return order, loops


def _inside(place: str, value: object) -> list[str]:
    if isinstance(value, dict):
        return [place + pointer_to([name]) for name in cast("dict[str, Any]", value)]
    return [f"{place}/{index}" for index in range(len(cast("list[Any]", value)))] if isinstance(value, list) else []


def _standing_at(document: Any, place: str) -> Any:
    value = document
    for step in split_pointer(place):
        match value:
            case dict():
                value = cast("dict[str, Any]", value).get(step)
            case list() if step.isdecimal() and int(step) < len(cast("list[Any]", value)):
                value = cast("list[Any]", value)[int(step)]
            case _:
                return None
    return value
