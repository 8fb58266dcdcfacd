"""Patterns with JSON Schema's meaning, in linear time."""

import pytest

from wf_core.errors import InvalidSchema
from wf_core.schemas import compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("b", "abc"),
        ("", "anything"),
        ("^a$", "a"),
        (r"^\d+$", "0123456789"),
        (r"^\w+$", "a_1"),
        (r"\p{L}", "é"),
        (r"^a\/b\-c$", "a/b-c"),
        (r"^\u0041$", "A"),
    ],
)
def test_a_pattern_matches_anywhere_unless_it_says_where(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).matches(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^b", "abc"), ("^a$", "a\n"), (r"\d", "\N{ARABIC-INDIC DIGIT ONE}"), (r"^\w$", "é"), ("a", "")],
)
def test_classes_and_anchors_are_those_of_ecmascript(pattern: str, text: str) -> None:
    assert not compile_pattern(pattern).matches(text)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "is no regular expression"),
        ("[z-a]", "is no regular expression"),
        ("*", "is no regular expression"),
        (r"(\d{1000}){1000}", "too large"),
        ("(?=a)b", "linear time"),
        ("(?!a)b", "linear time"),
        ("(?<=a)b", "linear time"),
        (r"(a)\1", "linear time"),
    ],
)
def test_patterns_that_cannot_be_matched_in_linear_time_are_refused(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=reason) as refused:
        compile_pattern(pattern)
    assert refused.value.code == "invalid_schema"


def test_a_pattern_is_compiled_once() -> None:
    assert compile_pattern("^once$") is compile_pattern("^once$")
