"""Values and texts in fewer bytes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.jsonvalue import JsonValue, size
from wf_mcp.server.shortening import cut, shortened


def test_a_short_value_is_the_same_object() -> None:
    value: JsonValue = {"a": ["b"]}
    assert shortened(value, 100, 100) is value


def test_the_smallest_parts_that_are_too_long_become_markers_with_previews_for_which_there_is_room() -> None:
    value: dict[str, Any] = {"id": 7, "one": "x" * 5000, "two": ["y" * 300] * 10}
    short = shortened(value, 1000, 2000)
    assert isinstance(short, dict)
    assert (short["id"], size(short) <= 1000) == (7, True)
    for name, begin, length in (("one", "xxx", 5002), ("two", '["yyy', 3031)):
        marker = short[name]
        assert isinstance(marker, dict)
        preview = marker["preview"]
        assert isinstance(preview, str)
        assert (marker["$truncated"], marker["bytes"], preview.startswith(begin)) == (True, length, True)
        assert len(preview) > 300


def test_a_preview_is_bounded_by_itself() -> None:
    short = shortened("x" * 5000, 4000, 50)
    assert isinstance(short, dict)
    assert size(short["preview"]) <= 50


long_values = st.tuples(json_values, json_values, st.integers(1, 300)).map(
    lambda drawn: {"many": [drawn[0]] * drawn[2], "inner": {"one": drawn[1], "text": "é" * drawn[2] * 20}}
)


@given(long_values, st.integers(250, 2000))
def test_a_shortened_value_keeps_to_the_limit(value: dict[str, JsonValue], limit: int) -> None:
    assert size(shortened(value, limit, 2000)) <= limit


@pytest.mark.parametrize("letter", ["x", "é", "😀", "\x01", '"'])
def test_a_text_that_is_cut_says_how_long_it_is(letter: str) -> None:
    text = letter * 1000
    told = cut(text, 500)
    assert told.endswith(" … (1000 characters in all)")
    assert 300 < size(told) < 550
    assert cut(letter * 10, 500) == letter * 10
