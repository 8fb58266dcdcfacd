"""What crosses from a source into runs, traces and messages: strict JSON without secrets, texts without host paths."""

import re
from pathlib import Path

from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue, check, clone
from wf_mcp.config import Redactor
from wf_mcp.sources.errors import CallFailed

LONGEST_TEXT = 2000
"""Characters of a foreign message that are shown."""

_BREAK = r"\s/'\"`,;:()<>\[\]{}|"
_HOST_PATH = re.compile(rf"(?:(?<![\w.~/:-])|(?<=file://))/([^{_BREAK}]+)/(?:[^{_BREAK}]+/)*([^{_BREAK}]*)")


def take_in(value: object, redactor: Redactor, where: str = "output") -> JsonValue:
    """Give the value as JSON of our own, without secrets; nothing is converted.

    Raises:
        CallFailed: `output_invalid`, naming the place of what is no JSON.
    """
    try:
        check(value, where)
    except NotJson as exc:
        raise CallFailed("output_invalid", exc.message, executed=True, hint=exc.hint, details=exc.details) from None
    return redactor.json(clone(value))  # pyright: ignore[reportArgumentType]  # `check` has seen that it is JSON


def presentable(text: str, redactor: Redactor) -> str:
    """Give a foreign message as it may be shown: without secrets and folders of this host, bounded, all of it UTF-8."""
    text = redactor.text(text.encode("utf-8", "replace").decode())
    text = _HOST_PATH.sub(_name_only, text).strip()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _name_only(match: re.Match[str]) -> str:
    # What does not begin with a folder of this host is no path of it: an endpoint such as /api/users, say.
    return match[2] if Path("/", match[1]).exists() else match[0]
