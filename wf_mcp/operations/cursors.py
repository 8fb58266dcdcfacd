"""Cursors of filtered lists: one leads on only in the list, with the filters, that gave it out."""

import hashlib

from wf_artifacts.errors import InvalidCursor
from wf_core import jsonvalue
from wf_core.jsonvalue import JsonValue

_MARK_LENGTH = 12


def bind(cursor: str | None, *filters: JsonValue) -> str | None:
    """Tie a cursor to the filters of its list; None, the end of the list, stays None."""
    return None if cursor is None else f"{_mark(filters)}.{cursor}"


def release(bound: str | None, *filters: JsonValue) -> str | None:
    """Give the cursor that was bound to these filters.

    Raises:
        InvalidCursor: it was bound to others, or never.
    """
    if bound is None:
        return None
    mark, _, cursor = bound.partition(".")
    if mark != _mark(filters):
        raise InvalidCursor(bound)
    return cursor


def _mark(filters: tuple[JsonValue, ...]) -> str:
    return hashlib.sha256(jsonvalue.canonical(list(filters))).hexdigest()[:_MARK_LENGTH]
