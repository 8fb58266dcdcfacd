"""What a call gave: read in either spelling, written in one, and text wherever it is none of the four forms."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wf_core.anything import nested, results, values
from wf_core.calls.results import (
    JsonContent,
    MediaContent,
    MixedContent,
    TextContent,
    ToolResult,
    as_text,
    check_result,
    json_result,
    read_form,
    read_result,
    result_to_json,
    text_result,
)
from wf_core.errors import NotJson
from wf_core.jsonvalue import MAX_DEPTH, JsonValue, dumps, loads

PICTURE = MediaContent("image/png", "iVBORw==", "chart.png")

FORMS: list[tuple[Any, ToolResult]] = [
    ({"type": "text", "content": "42"}, text_result("42")),
    ({"type": "text", "content": "no", "error": True}, text_result("no", error=True)),
    ({"type": "json", "content": None}, json_result(None)),
    (
        {"type": "json", "content": {"type": "text", "content": "data"}},
        json_result({"type": "text", "content": "data"}),
    ),
    (
        {"type": "media", "mime_type": "image/png", "base64_data": "iVBORw=="},
        ToolResult(MediaContent("image/png", "iVBORw==")),
    ),
    (
        {"type": "media", "mimeType": "image/png", "base64Data": "iVBORw==", "filename": "chart.png"},
        ToolResult(PICTURE),
    ),
    (
        {"type": "mixed", "parts": [{"type": "text", "content": "a"}, {"type": "mixed", "parts": []}]},
        ToolResult(MixedContent((TextContent("a"), MixedContent(())))),
    ),
]

NO_FORMS: list[Any] = [
    None,
    True,
    42,
    [],
    {},
    {"ok": 1},
    {"type": "text"},
    {"type": "text", "content": 1},
    {"type": "text", "content": "x", "more": 1},
    {"type": "text", "content": "x", "error": 1},
    {"type": "text", "content": "x", "error": None},
    {"type": "json"},
    {"type": "media", "mime_type": "image/png", "base64_data": "no base64!"},
    {"type": "media", "mime_type": "image/png", "base64_data": "AAAA", "base64Data": "AAAA"},
    {"type": "media", "mime_type": "image/png", "base64_data": "AAAA", "filename": 1},
    {"type": "media", "mime_type": "image/png", "base64_data": "AAAA", "name": "x"},
    {"type": "media", "mime_type": "image/png"},
    {"type": "mixed", "parts": [{"type": "text", "content": "a"}, "b"]},
    {"type": "mixed", "parts": [{"type": "text", "content": "a", "error": True}]},
    {"type": "mixed", "parts": {}},
    {"type": "blob", "content": "x"},
    {"tag": "RunIsolated"},
    {"token": "call_1", "status": "success", "result": {"type": "text", "content": "x"}},
    {"lc": 2, "type": "constructor", "id": ["x"]},
]


@pytest.mark.parametrize(("value", "result"), FORMS)
def test_a_form_is_read_however_it_comes(value: Any, result: ToolResult) -> None:
    """The same call answered through every door has the same result."""
    assert read_result(value) == result
    assert read_result(json.dumps(value, indent=1)) == result
    assert read_result(json.dumps(value).encode()) == result


@pytest.mark.parametrize("value", NO_FORMS)
def test_anything_else_is_text(value: Any) -> None:
    written = json.dumps(value, indent=1)
    assert read_result(written) == text_result(written)
    assert read_result(written.encode()) == text_result(written)
    assert read_result(value) == text_result(dumps(value).decode())
    assert read_form(value) is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("", ""),
        ("42\n", "42\n"),
        (b"\xff\xfe", "��"),
        ("a\ud800", "a?"),
        ('{"type": "text", "content": "x", "content": "y"}', '{"type": "text", "content": "x", "content": "y"}'),
        ('{"type": "json", "content": NaN}', '{"type": "json", "content": NaN}'),
        ('{"type": "text", "content": "x"} {}', '{"type": "text", "content": "x"} {}'),
        (float("nan"), "nan"),
    ],
)
def test_what_is_no_json_is_text(given: Any, text: str) -> None:
    assert read_result(given) == text_result(text)


def test_a_result_too_deep_to_be_stored_is_text() -> None:
    value: Any = 1
    for _ in range(127):
        value = [value]
    assert read_result(dumps({"type": "json", "content": value})) == json_result(value)
    deeper = dumps({"type": "json", "content": [value]})
    assert read_result(deeper) == text_result(deeper.decode())


def test_a_value_too_deep_to_be_written_down_is_said_to_be_that() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert read_result(value) == text_result("[a value that is nested too deeply]")


def test_mixed_parts_may_not_nest_without_end() -> None:
    written = '{"type":"mixed","parts":[' * 500 + "]}" * 500
    assert read_result(written) == text_result(written)


@given(results)
def test_a_result_is_read_as_it_was_written(result: ToolResult) -> None:
    assert read_form(result_to_json(result)) == result
    assert read_result(dumps(result_to_json(result))) == result


@given(values | st.binary())
def test_reading_never_refuses(value: Any) -> None:
    assert isinstance(as_text(read_result(value)), str)


def test_a_result_can_be_said_in_words() -> None:
    sound = MediaContent("audio/wav", "AAAA")
    mixed = MixedContent((TextContent("a\nb"), JsonContent({"n": [1, 2.5]}), PICTURE, sound))
    assert as_text(ToolResult(mixed)) == 'a\nb\n{"n":[1,2.5]}\n[image/png chart.png, 4 bytes]\n[audio/wav, 3 bytes]'


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 4))
def test_what_a_result_holds_of_json_is_as_deep_as_a_value_may_be_whatever_is_around_it(levels: int) -> None:
    result = json_result(nested(levels))
    stored = levels <= MAX_DEPTH
    assert read_form(loads(dumps(result_to_json(result)))) == (result if stored else None)
    with nullcontext() if stored else pytest.raises(NotJson, match=f"deeper than {MAX_DEPTH} levels"):
        check_result(result)


@given(levels=st.integers(MAX_DEPTH - 5, 200), around=st.sampled_from(["nothing", "json", "mixed"]))
def test_a_value_that_is_too_deep_is_said_as_json(levels: int, around: str) -> None:
    value = nested(levels)
    form: JsonValue = {"type": "json", "content": value}
    forms: dict[str, JsonValue] = {"nothing": value, "json": form, "mixed": {"type": "mixed", "parts": [form]}}
    given = forms[around]
    read = read_result(given)
    check_result(read)
    if isinstance(read.content, TextContent):
        assert loads(read.content.content) == given
    else:
        assert result_to_json(read) == given


def test_a_number_that_cannot_be_written_down_is_said_to_be_that() -> None:
    assert read_result([10**5000]) == text_result("[a value that cannot be written down]")
