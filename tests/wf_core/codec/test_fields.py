"""Strict reading: every key is there and of its type, and none is left over."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from wf_core.codec.fields import Fields, as_count, as_text, read_each
from wf_core.errors import StateCorrupt


def fields(**values: Any) -> Fields:
    return Fields(values, "run")


def where(read: Callable[[], object]) -> str:
    with pytest.raises(StateCorrupt) as caught:
        read()
    return caught.value.details["where"]


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_what_is_no_object_has_no_fields(value: object) -> None:
    assert where(lambda: Fields(value, "run")) == "run"


def test_a_key_that_nobody_asked_for_is_refused() -> None:
    def read() -> None:
        with fields(a=1, z=2, y=3) as found:
            found.any("a")

    with pytest.raises(StateCorrupt, match="'y'"):
        read()


def test_an_error_inside_is_not_hidden_by_the_keys_that_were_left_over() -> None:
    def read() -> None:
        with fields(a=1, z=2):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        read()


def test_a_key_that_is_missing_is_refused() -> None:
    with pytest.raises(StateCorrupt, match="'a'"):
        fields().any("a")


KINDS: list[tuple[Any, Any, list[Any]]] = [
    (int, 3, [True, 3.0, "3", None]),
    (str, "a", [1, None, ["a"]]),
    (bool, True, [1, 0, None]),
    (dict, {}, [[], None]),
    (list, [], [{}, None]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), KINDS)
def test_a_value_is_of_exactly_its_type(kind: Any, good: object, bad: list[object]) -> None:
    assert fields(a=good).of(kind, "a") == good
    for value in bad:
        assert where(lambda value=value: fields(a=value).of(kind, "a")) == "run.a"


def test_null_is_taken_only_where_it_may_stand() -> None:
    assert fields(a=None).maybe(int, "a") is None
    assert fields(a=3).maybe(int, "a") == 3
    assert where(lambda: fields(a="3").maybe(int, "a")) == "run.a"
    assert fields(a=None).maybe_time("a") is None


def test_a_closed_set_has_no_other_members() -> None:
    assert fields(a="one").one_of(("one", "two"), "a") == "one"
    for value in ("three", None, 1, ["one"]):
        assert where(lambda value=value: fields(a=value).one_of(("one", "two"), "a")) == "run.a"


def test_a_count_has_a_least_value() -> None:
    assert fields(a=0).count("a") == 0
    assert where(lambda: fields(a=-1).count("a")) == "run.a"
    assert where(lambda: fields(a=0).count("a", least=1)) == "run.a"


def test_a_time_is_in_utc_and_keeps_its_microseconds() -> None:
    moment = datetime(2026, 11, 30, 10, 0, 0, 123456, UTC)
    assert fields(a="2026-11-30T10:00:00.123456+00:00").time("a") == moment
    assert fields(a="2026-11-30T10:00:00.123456Z").maybe_time("a") == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-11-30",
        "2026-11-30T10:00:00",
        "2026-11-30T10:00:00+01:00",
        "0001-01-01T00:00:00+05:00",
        5,
        None,
    ],
)
def test_what_is_no_time_in_utc_is_refused(text: object) -> None:
    assert where(lambda: fields(a=text).time("a")) == "run.a"


def test_elements_are_read_with_their_places() -> None:
    assert fields(a=["x", "y"]).texts("a") == ("x", "y")
    assert where(lambda: fields(a=["x", 3]).texts("a")) == "run.a[1]"
    assert where(lambda: read_each({}, "run.b", as_text)) == "run.b"
    assert where(lambda: read_each([0, -1], "run.b", as_count)) == "run.b[1]"
    assert where(lambda: as_count(True, "run.c")) == "run.c"
