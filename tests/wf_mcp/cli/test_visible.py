"""Text of others, made visible."""

import json
import sys
import unicodedata

import pytest

from wf_mcp.cli.visible import exact_json, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcödé, 漢字, עברית, 👩‍🚀, می‌خواهم", "plain, ünïcödé, 漢字, עברית, 👩‍🚀, می‌خواهم"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J\x7f", r"\x9b2J\x7f"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),
        ("\ud800", r"\ud800"),
        ("a\rb\x08", r"a\rb\x08"),
        ("\U000e0041", r"\U000e0041"),
        ("one\ntwo\tthree", r"one\ntwo\tthree"),
        ("[/] :smile:", "[/] :smile:"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_lines_stay_where_there_may_be_several() -> None:
    assert visible("one\r\ntwo\n\tthree\rx", lines=True) == "one\ntwo\n\tthree\\rx"


def test_no_character_is_let_through_that_is_obeyed_or_hidden() -> None:
    left = visible("".join(map(chr, range(sys.maxunicode + 1))))
    assert {unicodedata.category(char) for char in left} & {"Cc", "Cs", "Zl", "Zp"} == set()
    assert {char for char in left if unicodedata.category(char) == "Cf"} == {"\u200c", "\u200d"}


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_exact_and_nothing_in_it_is_obeyed(ascii_only: bool, indent: int | None) -> None:
    value = {"\x9b": "é \x1b \x7f \u202e \U000e0041 \ud800 \u2028\n\t\\"}
    text = exact_json(value, ascii_only=ascii_only, indent=indent)
    assert json.loads(text) == value
    assert all(char.isprintable() or char == "\n" for char in text)
