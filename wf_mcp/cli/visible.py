"""Text of others, written so that a terminal has nothing to obey in it, and a person sees all of it."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that a terminal obeys or does not show: controls, formats such as those that turn the
direction of writing, lone surrogates, and separators of lines."""

_JOINERS = "\u200c\u200d"
"""Formats without which words of some languages, and many emoji, fall apart."""


def visible(text: str, *, lines: bool = False) -> str:
    r"""Write what a terminal would obey or hide as an escape, as in `\x1b`. With `lines`, breaks and tabs stay.

    What is visible already comes back as it is.
    """
    if text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n")
    return _replaced(text, "\n\t" if lines else "", _escape)


def exact_json(value: Any, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    r"""Write JSON in which each character that a terminal would obey or hide is escaped, as in `\u009b`.

    JSON itself escapes no more than the first 32 of them. Readers of JSON see no difference.
    """
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    return _replaced(text, "\n", lambda char: json.dumps(char)[1:-1] if char != "\x7f" else r"\u007f")


def _replaced(text: str, kept: str, write: Callable[[str], str]) -> str:
    """Write what is hidden otherwise, but for what is `kept`."""
    if text.isprintable():
        return text
    kept += _JOINERS
    return "".join(write(char) if unicodedata.category(char) in _HIDDEN and char not in kept else char for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
