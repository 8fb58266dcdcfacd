"""Strict JSON: refused with its place, or survives exactly."""

import json
import math
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.errors import NotJson
from wf_core.jsonvalue import (
    MAX_DEPTH,
    MAX_DIGITS,
    PREVIEW_LENGTH,
    JsonValue,
    as_text,
    canonical,
    check,
    clone,
    dumps,
    equal,
    kind_of,
    loads,
    place,
    quote,
    shorten,
    size,
)


class Letter(Enum):
    A = "a"


class Word(StrEnum):
    A = "a"


class Level(IntEnum):
    ONE = 1


@dataclass
class Point:
    x: int


class Text(str):
    """A subclass: it would come back as plain text."""

    __slots__ = ()


def nested(levels: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(levels - 1):
        value = [value]
    return value


def containing_itself() -> list[Any]:
    value: list[Any] = []
    value.append({"again": value})
    return value


NO_JSON: dict[str, tuple[object, str]] = {
    "NaN": (math.nan, "NaN"),
    "Infinity": (math.inf, "an infinite number"),
    "negative infinity": (-math.inf, "an infinite number"),
    "integer beyond what Python writes": (10**MAX_DIGITS, "an integer of more than 4300 digits"),
    "tuple": ((1, 2), "a value of type tuple"),
    "set": ({1}, "a value of type set"),
    "bytes": (b"\xff\x00", "a value of type bytes"),
    "lone surrogate": ("a\ud800", "text with a lone surrogate"),
    "naive datetime": (datetime(2026, 1, 1), "a value of type datetime"),  # noqa: DTZ001 - naive on purpose
    "datetime": (datetime(2026, 1, 1, tzinfo=UTC), "a value of type datetime"),
    "timedelta": (timedelta(seconds=90), "a value of type timedelta"),
    "Decimal": (Decimal("1.10"), "a value of type Decimal"),
    "Enum": (Letter.A, "a value of type Letter"),
    "StrEnum": (Word.A, "a value of type Word"),
    "IntEnum": (Level.ONE, "a value of type Level"),
    "text subclass": (Text("a"), "a value of type Text"),
    "OrderedDict": (OrderedDict(a=1), "a value of type OrderedDict"),
    "UUID": (uuid.UUID(int=1), "a value of type UUID"),
    "dataclass": (Point(1), "a value of type Point"),
    "path": (PurePosixPath("/a"), "a value of type PurePosixPath"),
    "function": (len, "a value of type builtin_function_or_method"),
}

JSON: dict[str, JsonValue] = {
    "null": None,
    "boolean": True,
    "2**63": 2**63,
    "2**64": 2**64,
    "-2**64": -(2**64),
    "10**400": 10**400,
    "largest integer": 10**MAX_DIGITS - 1,
    "negative zero": -0.0,
    "0.1 + 0.2": 0.1 + 0.2,
    "whole float": 1.0,
    "largest float": 1.7976931348623157e308,
    "NUL": "a\x00b",
    "emoji": "🙂",
    "empty key": {"": 1},
    "long text": "x" * 100_000,
    "deepest": nested(MAX_DEPTH),
}


@pytest.mark.parametrize(("value", "reason"), NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_is_refused_naming_the_place(value: object, reason: str) -> None:
    with pytest.raises(NotJson) as refused:
        check({"items": [1, {"when": value}]}, "state")
    assert (refused.value.where, refused.value.reason) == ("state.items[1].when", reason)


@pytest.mark.parametrize("value", JSON.values(), ids=JSON)
def test_json_survives_exactly(value: JsonValue) -> None:
    check(value, "state")
    back = loads(dumps({"v": value}))
    assert isinstance(back, dict)
    assert repr(back["v"]) == repr(value)


@pytest.mark.parametrize("key", [1, None, True, 1.5, Word.A, ("a",)])
def test_keys_are_text(key: object) -> None:
    with pytest.raises(NotJson, match=r"^state.row: a key of type \w+, keys are text"):
        check({"row": {key: 1}}, "state")


def test_a_key_with_a_lone_surrogate_is_refused_in_a_printable_message() -> None:
    with pytest.raises(NotJson) as refused:
        check({"\udc80": 1}, "state")
    assert str(refused.value).isascii()
    assert refused.value.where == "state"


def test_a_value_may_not_contain_itself() -> None:
    with pytest.raises(NotJson) as refused:
        check(containing_itself(), "state")
    assert (refused.value.where, refused.value.reason) == ("state[0].again", "contains itself")


def test_the_same_container_may_stand_in_two_places() -> None:
    shared = [1]
    check({"a": shared, "b": shared}, "state")


def test_nesting_is_bounded() -> None:
    with pytest.raises(NotJson, match=f"deeper than {MAX_DEPTH} levels") as refused:
        check(nested(MAX_DEPTH + 1), "state")
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", sorted(NO_JSON.keys() - {"tuple", "Enum", "StrEnum", "IntEnum", "UUID"}))
@pytest.mark.parametrize("beside", [1, None, 2**70])
def test_writing_refuses_what_has_no_json_form(name: str, beside: object) -> None:
    with pytest.raises(NotJson):
        dumps([beside, NO_JSON[name][0]])


@pytest.mark.parametrize("beside", [1, None, 2**70])
def test_writing_takes_a_tuple_for_an_array(beside: int | None) -> None:
    assert loads(dumps({"path": ("a", "b"), "beside": beside})) == {"path": ["a", "b"], "beside": beside}


@pytest.mark.parametrize("key", [1, None])
def test_writing_refuses_keys_that_are_no_text(key: object) -> None:
    for beside in (1, 2**70):
        with pytest.raises(NotJson):
            dumps({key: beside})


def test_documents_may_be_deeper_than_values() -> None:
    document = {"format": "run", "body": {"state": {"deep": nested(MAX_DEPTH), "big": 2**70}}}
    assert loads(dumps(document)) == document


def test_writing_refuses_a_depth_that_could_not_be_read() -> None:
    with pytest.raises(NotJson, match="deeper than"):
        dumps(nested(300))


def test_writing_is_compact_and_keeps_key_order_and_characters() -> None:
    assert dumps({"b": [1, 2.5], "a": "é"}) == '{"b":[1,2.5],"a":"é"}'.encode()
    assert dumps({"b": 2**64, "a": "é"}) == '{"b":18446744073709551616,"a":"é"}'.encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("nul", "no JSON"),
        ("'a'", "no JSON"),
        ("[1,]", "no JSON"),
        ("1 2", "no JSON: Extra data"),
        ("NaN", "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e999", "the number 1e999, too large for a float"),
        ("-1e999", "the number -1e999, too large for a float"),
        (r'"\ud800"', "text with a lone surrogate"),
        (r'{"\ud800": 1}', "a key with a lone surrogate"),
        ('"\ud800"', "text with a lone surrogate at character 1"),
        ('{"a": 1, "b": 2, "a": 3}', "the key a twice in one object"),
        ('{"a": {"b": 1, "b": 1}}', "the key b twice in one object"),
        ('{"a":1,"a":1}', "the key a twice in one object"),
        ("\ufeff1", "no JSON"),
        ("1" * (MAX_DIGITS + 1), "an integer of more than 4300 digits"),
        ("[" * 100_000, "nested too deeply"),
        ('"\x01"', "no JSON"),
        (b"\xff", "no UTF-8 text at byte 0"),
        ('"a"'.encode("utf-16"), "no UTF-8 text"),
        ('"é"'.encode("latin-1"), "no UTF-8 text"),
    ],
)
def test_reading_is_strict(text: str | bytes, reason: str) -> None:
    with pytest.raises(NotJson) as refused:
        loads(text, "plan")
    assert refused.value.where.startswith("plan")
    assert refused.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' { "a" : [ 1 , 2.50 ] } ', {"a": [1, 2.5]}),
        ("18446744073709551616", 2**64),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1e2", 100.0),
        (r'"\ud83d\ude42"', "🙂"),
        (r'"\u0000"', "\0"),
        (b'{"a":null}', {"a": None}),
    ],
)
def test_reading_gives_what_the_text_says(text: str | bytes, value: JsonValue) -> None:
    assert repr(loads(text)) == repr(value)


@given(json_values)
def test_any_value_survives_writing_and_reading(value: JsonValue) -> None:
    check(value, "value")
    assert repr(loads(dumps(value))) == repr(value)
    assert repr(loads(json.dumps(value, indent=1))) == repr(value)


@given(json_values, json_values)
def test_equal_values_and_only_those_have_equal_canonical_bytes(left: JsonValue, right: JsonValue) -> None:
    assert equal(left, right) == (canonical(left) == canonical(right))


@given(json_values)
def test_a_value_equals_itself_however_its_keys_are_ordered(value: JsonValue) -> None:
    turned = reversed_keys(value)
    assert equal(value, turned)
    assert canonical(value) == canonical(turned)


def reversed_keys(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: reversed_keys(item) for key, item in reversed(value.items())}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


EQUAL: list[tuple[JsonValue, JsonValue]] = [
    (1, 1.0),
    (0, -0.0),
    ([1, {"a": 2.0}], [1.0, {"a": 2}]),
    (2**70, float(2**70)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
]

DIFFERENT: list[tuple[JsonValue, JsonValue]] = [
    (1, True),
    (0, False),
    (0.0, False),
    ([1], [True]),
    ({"a": [0]}, {"a": [False]}),
    (None, False),
    (None, 0),
    ("1", 1),
    ([], {}),
    ([1], [1, 1]),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": None}, {}),
    (2**53, float(2**53) + 2),
    (10**300, 1e300),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equality_is_that_of_json(left: JsonValue, right: JsonValue) -> None:
    assert equal(left, right)
    assert equal(right, left)
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_values_of_different_kinds_or_members_differ(left: JsonValue, right: JsonValue) -> None:
    assert not equal(left, right)
    assert not equal(right, left)
    assert canonical(left) != canonical(right)


@given(json_values)
def test_a_clone_is_equal_and_shares_no_container(value: JsonValue) -> None:
    copied = clone(value)
    assert repr(copied) == repr(value)
    assert containers(copied).isdisjoint(containers(value))


def containers(value: JsonValue) -> set[int]:
    """Give the ids of every array and object inside."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = {id(value)} if isinstance(value, (dict, list)) else set[int]()
    return own.union(*(containers(member) for member in members))


def test_size_counts_bytes_of_compact_json() -> None:
    assert size({"a": "é"}) == len('{"a":"é"}'.encode())


def test_a_long_text_inside_an_object_is_replaced_and_the_object_stays() -> None:
    short = shorten({"id": 7, "text": "x" * 6000}, 4096)
    marker = {"$truncated": True, "bytes": 6002, "preview": "x" * PREVIEW_LENGTH}
    assert short == {"id": 7, "text": marker}


def test_an_object_of_many_small_values_is_replaced_itself() -> None:
    value: JsonValue = {"rows": list(range(5000)), "id": 7}
    short = shorten(value, 4096)
    assert isinstance(short, dict)
    assert short["id"] == 7
    rows = short["rows"]
    assert isinstance(rows, dict)
    assert rows["$truncated"] is True
    assert rows["bytes"] == size(value["rows"])
    assert str(rows["preview"]).startswith("[0,1,2,")


def test_many_long_texts_are_replaced_together() -> None:
    short = shorten(["x" * 5000 for _ in range(100)], 4096)
    assert isinstance(short, dict)
    assert short["$truncated"] is True


def test_what_is_short_enough_is_left_as_it_is() -> None:
    assert shorten("x" * 4094, 4096) == "x" * 4094


@given(st.lists(json_values | st.sampled_from(["🙂\x00" * 900, "x" * 5000]), max_size=8))
def test_a_shortened_value_keeps_to_the_limit_and_shares_nothing(value: list[JsonValue]) -> None:
    large: JsonValue = [*value, {"more": value}]
    short = shorten(large, 4096)
    assert size(short) <= 4096
    assert containers(short).isdisjoint(containers(large))


@pytest.mark.parametrize(
    ("where", "steps", "written"),
    [
        ("state", ["items", 3, "when"], "state.items[3].when"),
        ("input", [], "input"),
        ("input", ["first name"], 'input."first name"'),
        ("input", ["größe"], 'input."größe"'),
        ("input", [""], 'input.""'),
        ("", ["a", 0], "a[0]"),
    ],
)
def test_places_read_like_paths(where: str, steps: list[str | int], written: str) -> None:
    assert place(where, steps) == written


def test_quoting_shortens_and_stays_printable() -> None:
    assert quote('say "é"') == '"say \\"é\\""'
    assert len(quote("x" * 10_000)) < 200
    assert quote("\ud800").isascii()


def test_written_bytes_are_json_to_others_too() -> None:
    value: JsonValue = {"a": [1, None, 1e308, "\u2028", 2**70]}
    assert json.loads(dumps(value)) == value


def test_messages_and_templates_name_kinds_and_write_values() -> None:
    values: list[JsonValue] = [None, True, 1, 1.0, "", [], {}]
    assert " ".join(map(kind_of, values)) == "null a boolean a number a number a text an array an object"
    written: list[JsonValue] = ['a "b"', {"a": [1, None]}]
    assert [as_text(value) for value in written] == ['a "b"', '{"a":[1,null]}']
