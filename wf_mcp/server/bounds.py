"""Answers that a model can read: about 10,000 tokens at most, however much is stored.

First the longest values and texts of an answer are shortened; where that is not enough, its lists name fewer. A
diagnostic says what was left out, and where it is. The rows of a page stay: a page that is too long has fewer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from pydantic import BaseModel

from wf_core import jsonvalue
from wf_mcp.server.shapes import VALUE, Shape, fields_of, rows_of
from wf_mcp.server.shortening import cut, shortened
from wf_mcp.server.wholes import where

MOST_BYTES: Final = 32_000
"""Compact JSON of an answer: about 10,000 tokens."""

_ROOM: Final = 2_000
"""Bytes for the diagnostic that says what is left out."""

_LAST: Final = "conversation"
"""The list of which the last stay."""

_ASKED: Final = "interrupt"
"""What somebody has to see whole to answer: as much of it stays as can."""

_KEPT: Final = frozenset({"next_cursor"})
"""Texts that are of no use unless they are whole."""

_MOST_NAMED: Final = 8
"""How many of the shortened members the diagnostic names."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """How much stays of each part of an answer."""

    limit: int
    """Bytes of a value or a text."""
    number: int | None = None
    """Items of a list, or members of a map. None: all."""
    preview: int = 2_000
    """Bytes that are shown of a value that is too long."""
    asked: int = 1_000
    """Bytes of a value or a text of a question that stands by itself."""

    def of(self, name: str) -> "_Measure":
        """Give the measure of a member."""
        if name != _ASKED:
            return self
        number = None if self.number is None else self.number * 10
        return _Measure(max(self.asked, self.limit), number, preview=max(self.asked, self.preview))


_LIMITS: Final = (24_000, 16_000, 4_000, 1_000, 250)
_ASKED_LIMITS: Final = (24_000, 16_000, 4_000, 1_000)
_NUMBERS: Final = (3, 10, 30, 100, None)
_LEAST: Final = _Measure(250, 1, asked=250)
"""With this every answer is short enough, for it has a few dozen members."""

_OF_A_PAGE: Final = _Measure(1_000, 10, asked=4_000)
"""A page has as many rows as there is room for with this much of each."""


@dataclass(slots=True)
class _LeftOut:
    """What an answer has no room for."""

    items: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """List -> how many it names, of how many."""
    shortened: dict[str, None] = field(default_factory=dict[str, None])
    """Places of values and texts, in the order in which they stand."""


def bounded(body: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Give an answer of a model as short as it can be read: as it is, where it is short enough."""
    size = jsonvalue.size(body)
    if size <= MOST_BYTES:
        return body
    short, left_out = _fitting(body, model)
    note = _note(size, left_out, where(model.__name__, body, set(left_out.items)))
    return {**short, "diagnostics": [note, *short.get("diagnostics", [])]}


def fewer_rows(answer: BaseModel) -> int | None:
    """Say how many rows a page should have that is too long to be read. None: it is not, or it has one row."""
    model = type(answer)
    name = rows_of(model)
    if name is None:
        return None
    body = answer.model_dump(mode="json")
    rows = len(body[name])
    if rows <= 1 or jsonvalue.size(body) <= MOST_BYTES:
        return None
    size = jsonvalue.size(_Told(model).record(body, model, _OF_A_PAGE, "", _LeftOut()))
    room = MOST_BYTES - _ROOM
    return None if size <= room else max(1, rows * room // size)


def _fitting(body: dict[str, Any], model: type[BaseModel]) -> tuple[dict[str, Any], _LeftOut]:
    """Give as much of an answer as there is room for, and what was left out: items first, then a question, then all."""
    told = _Told(model)
    best = _LEAST
    for number in _NUMBERS:
        # What has room for few items is tried with more: an answer with many is not walked through for nothing.
        more = _Measure(_LIMITS[-1], number)
        if not told.fits(body, more):
            break
        best = more
    for asked in _ASKED_LIMITS:
        if told.fits(body, more := replace(best, asked=asked)):
            best = more
            break
    for limit in _LIMITS:
        if told.fits(body, more := replace(best, limit=limit)):
            best = more
            break
    left_out = _LeftOut()
    return told.record(body, model, best, "", left_out), left_out


class _Told:
    """Tells an answer in less. What was made of a long value is kept: several measures ask for it."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._rows = rows_of(model)
        self._made: dict[tuple[int, int, int], Any] = {}

    def fits(self, body: dict[str, Any], measure: _Measure) -> bool:
        """Tell whether an answer is short enough with this much of each part."""
        return jsonvalue.size(self.record(body, self._model, measure, "", _LeftOut())) <= MOST_BYTES - _ROOM

    def record(
        self, body: Mapping[str, Any], model: type[BaseModel], measure: _Measure, place: str, left_out: _LeftOut
    ) -> dict[str, Any]:
        fields = fields_of(model)
        return {
            name: self._member(
                item, fields.get(name, VALUE), measure.of(name), f"{place}.{name}" if place else name, left_out
            )
            for name, item in body.items()
        }

    def _member(self, item: Any, shape: Shape, measure: _Measure, place: str, left_out: _LeftOut) -> Any:
        if item is None or shape.kind == "exact" or place in _KEPT:
            return item
        match shape.kind:
            case "text":
                short = cut(item, measure.limit)
            case "value":
                short = self._value(item, measure)
            case "record":
                return self.record(item, cast("type[BaseModel]", shape.model), measure, place, left_out)
            case "list":
                return self._list(item, shape, measure, place, left_out)
            case "map":
                return self._map(item, shape, measure, place, left_out)
        if short is not item:
            left_out.shortened[place] = None
        return short

    def _list(self, items: list[Any], shape: Shape, measure: _Measure, place: str, left_out: _LeftOut) -> list[Any]:
        number = len(items) if measure.number is None or place == self._rows else measure.number
        chosen = items[-number:] if place == _LAST else items[:number]
        if len(chosen) < len(items):
            left_out.items[place] = (len(chosen), len(items))
        inner = cast("Shape", shape.inner)
        return [self._member(item, inner, measure, f"{place}[]", left_out) for item in chosen]

    def _map(
        self, members: dict[str, Any], shape: Shape, measure: _Measure, place: str, left_out: _LeftOut
    ) -> dict[str, Any]:
        number = len(members) if measure.number is None else measure.number
        readable = [name for name in members if jsonvalue.size(name) <= measure.limit]
        chosen = readable[:number]
        if len(chosen) < len(members):
            left_out.items[place] = (len(chosen), len(members))
        inner = cast("Shape", shape.inner)
        return {name: self._member(members[name], inner, measure, f"{place}.*", left_out) for name in chosen}

    def _value(self, value: Any, measure: _Measure) -> Any:
        key = id(value), measure.limit, measure.preview
        if key not in self._made:
            self._made[key] = shortened(value, measure.limit, measure.preview)
        return self._made[key]


def _note(size: int, left_out: _LeftOut, rest: str) -> dict[str, Any]:
    items = [
        f"`{name}` has the {'last' if name == _LAST else 'first'} {shown} of {all_of_them}"
        for name, (shown, all_of_them) in left_out.items.items()
        if "[]" not in name
    ]
    inner = [f"`{name}`" for name in left_out.items if "[]" in name]
    shortened = [f"`{name}`" for name in left_out.shortened]
    told = [
        *items,
        *([f"fewer items in {_named(inner)}"] if inner else []),
        *([f"shortened: {_named(shortened)}"] if shortened else []),
    ]
    return {
        "severity": "warning",
        "code": "shortened",
        "message": f"This answer would have {size} bytes, too many to be read at once: {'; '.join(told)}.",
        "hint": rest,
        "path": None,
    }


def _named(names: list[str]) -> str:
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*names[:_MOST_NAMED], *more])
