"""Capabilities in Python: what a workflow can ask of a text. The contract of each comes from its type hints."""

import re
from typing import Any, TypedDict

from wf_core import Outcome, capability

WORDS_A_MINUTE = 220
EMPTY_LINK = re.compile(r"\[([^\]]*)\]\(\s*\)")


class Count(TypedDict):
    """How long a text is."""

    words: int
    headings: int
    links: int
    reading_minutes: int


@capability(read_only=True)
def count_note(text: str) -> Count:
    """Count the words, headings and links of a Markdown text, and the minutes it takes to read."""
    words = len(text.split())
    return {
        "words": words,
        "headings": sum(line.startswith("#") for line in text.splitlines()),
        "links": len(re.findall(r"\]\([^)]+\)", text)),
        "reading_minutes": max(1, round(words / WORDS_A_MINUTE)),
    }


@capability(read_only=True, outcomes=("clean", "flawed"))
def check_note(text: str) -> dict[str, Any] | Outcome:
    """Look for what should not be published: empty links, and lines that still say TODO."""
    lines = list(enumerate(text.splitlines(), start=1))
    problems = [
        f"line {n}: the link “{label}” leads nowhere" for n, line in lines for label in EMPTY_LINK.findall(line)
    ]
    problems += [f"line {n}: still says TODO" for n, line in lines if "TODO" in line]
    return Outcome("flawed" if problems else "clean", {"problems": problems})
