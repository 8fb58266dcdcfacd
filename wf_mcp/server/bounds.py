"""Answers that a model can read: about 10,000 tokens at most, however much is stored.

First the longest values of an answer are shortened; where that is not enough, its lists name fewer, and a diagnostic
says of how many. The rows of a page stay: a page that is too long has fewer. The command line and the resources give
everything.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel

from wf_core import jsonvalue

A = TypeVar("A", bound=BaseModel)

MOST_BYTES: Final = 32_000
"""Compact JSON of an answer: about 10,000 tokens."""

_HUGE: Final = 1_000_000
"""Bytes from which on lists are cut further at once: to try one length after another would hold up a server."""

_ROOM: Final = 1_000
"""Bytes for the diagnostic that says what is left out."""

_LIMITS: Final = (16_000, 4_000, 1_000, 250)
"""Bytes that a value may have: the first with which the answer is short enough."""

_NUMBERS: Final = (100, 30, 10, 3)
"""How many a list names: the first with which the answer is short enough."""

_VALUES: Final = frozenset({"output", "payload", "arguments", "details", "text", "result"})
"""The members of answers that hold what runs, sessions and capabilities made, of any length."""

_WORDS: Final = frozenset({"answer"})
"""The members that hold what a model said: text, of any length, that stays text."""

_PROMPTS: Final = "queued_prompts"

_FIRST: Final = ("interrupts", "pending_calls", "diagnostics", _PROMPTS)
"""The lists of a summary, or of a row of a page, of which the first stay."""

_LAST: Final = "conversation"
"""The list of which the last stay."""

_OF_TURN: Final = ("calls", "results", "notices")

_ROWS: Final = ("runs", "sessions", "pending")


def bounded(body: dict[str, Any]) -> dict[str, Any]:
    """Give an answer as short as a model can read it: as it is, where it is short enough."""
    size, short = jsonvalue.size(body), body
    if size <= MOST_BYTES:
        return body
    for limit in _LIMITS:
        short = _shortened(body, limit)
        size = jsonvalue.size(short)
        if size <= MOST_BYTES:
            return short
        if size > _HUGE:
            break
    for number in _NUMBERS if size <= _HUGE else _NUMBERS[1:]:
        fewer = _fewer(body, number)
        for limit in _LIMITS:
            short = _shortened(fewer, limit)
            if jsonvalue.size(short) <= MOST_BYTES - _ROOM:
                return _noted(short, body)
    return _noted(short, body)


async def paged(ask: Callable[[int], Awaitable[A]], limit: int) -> A:
    """Ask for a page of at most `limit` rows, and for one with fewer where it is longer than a model can read."""
    while True:
        page = await ask(limit)
        body = page.model_dump(mode="json")
        size, rows = jsonvalue.size(bounded(body)), sum(len(body.get(name, ())) for name in _ROWS)
        if size <= MOST_BYTES or rows <= 1:
            return page
        limit = max(1, rows * MOST_BYTES // size)


def _fewer(body: dict[str, Any], number: int) -> dict[str, Any]:
    fewer = _first(body, _FIRST, number)
    for name in _ROWS:
        if isinstance(fewer.get(name), list):
            fewer[name] = [_first(row, _FIRST, number) for row in fewer[name]]
    if isinstance(fewer.get(_LAST), list):
        fewer[_LAST] = [_first(turn, _OF_TURN, number) for turn in fewer[_LAST][-number:]]
    return fewer


def _first(item: dict[str, Any], names: tuple[str, ...], number: int) -> dict[str, Any]:
    return {
        key: value[:number] if key in names and isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]
        for key, value in item.items()
    }


def _noted(short: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Say in the diagnostics what is left out, and where it is. Answers without diagnostics have no such lists."""
    if not isinstance(short.get("diagnostics"), list):
        return short
    named = [
        f"`{name}` has the {'last' if name == _LAST else 'first'} {len(short[name])} of {len(body[name])}"
        for name in (*_FIRST, _LAST)
        if name in short and len(short[name]) < len(body[name])
    ]
    words = f": {', '.join(named)}" if named else ""
    note = {
        "severity": "warning",
        "code": "shortened",
        "message": f"This answer is too long to be given whole{words}. Longer lists within it are cut alike.",
        "hint": _where(body),
        "path": None,
    }
    return {**short, "diagnostics": [note, *short["diagnostics"]]}


def _where(body: dict[str, Any]) -> str:
    run_id, session_id = body.get("run_id"), body.get("session_id")
    if session_id is not None:
        listed, whole = f'session_id="{session_id}"', f"`wf session show {session_id} --json`"
    elif run_id is not None:
        listed, whole = f'run_id="{run_id}"', f"the resource wf://runs/{run_id}"
    else:
        listed, whole = "run_id=…", "`wf runs list --json`"
    return f"list_pending({listed}) lists all that waits, a page at a time; {whole} gives everything."


def _shortened(body: Any, limit: int) -> Any:
    match body:
        case dict():
            members = cast("dict[str, Any]", body).items()
            return {key: _member(key, item, limit) for key, item in members}
        case list():
            return [_shortened(item, limit) for item in cast("list[Any]", body)]
        case _:
            return body


def _member(key: str, item: Any, limit: int) -> Any:
    if key in _VALUES:
        return jsonvalue.shorten(item, limit)
    if key == _PROMPTS and isinstance(item, list):
        return [jsonvalue.shorten(words, limit) for words in cast("list[Any]", item)]
    if key in _WORDS and isinstance(item, str) and len(item) > limit:
        return f"{item[:limit]} … ({len(item)} characters in all; `wf session show --json` gives them)"
    return _shortened(item, limit)
