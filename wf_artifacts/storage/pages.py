"""Pages of long lists, and the cursors that lead from one to the next.

A cursor holds the id of the last item before it, so a list that changes between two pages neither skips nor repeats
an item that was there all along.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from wf_artifacts.errors import InvalidCursor
from wf_core.errors import StateError
from wf_core.ids import is_id

T = TypeVar("T")
Id = TypeVar("Id", bound=str)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A record that cannot be read, listed so that it is not lost from sight."""

    identifier: str
    error: StateError


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list."""

    items: tuple[T, ...]
    next_cursor: str | None
    """Where the next page begins. None on the last page."""
    damaged: tuple[Damaged, ...] = ()
    """Records of this part of the list that cannot be read; they do not count against the limit."""


class Pages(Protocol[T]):
    """A list, a page at a time. None begins it."""

    def __call__(self, *, cursor: str | None, limit: int) -> Awaitable[Page[T]]: ...


async def every(pages: Pages[T], *, cursor: str | None = None, limit: int = 100) -> AsyncGenerator[T]:
    """Give every item of a list, from a cursor on. What is damaged is left out."""
    while True:
        page = await pages(cursor=cursor, limit=limit)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


def cursor_after(kind: str, identifier: str) -> str:
    """Name the place in the list of `kind` right after an item."""
    return urlsafe_b64encode(f"{kind}:{identifier}".encode()).rstrip(b"=").decode()


def read_cursor(kind: str, cursor: str) -> str:
    """Give the id that a cursor of the list of `kind` was made of.

    Raises:
        InvalidCursor: it is not one.
    """
    try:
        text = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeError) as error:
        raise InvalidCursor(cursor) from error
    name, _, identifier = text.partition(":")
    if name != kind or not is_id(identifier) or cursor_after(kind, identifier) != cursor:
        raise InvalidCursor(cursor)
    return identifier


def ascending(kind: str, identifiers: Iterable[Id], cursor: str | None) -> list[Id]:
    """Give the ids of a list in order, those up to the cursor left out.

    Raises:
        InvalidCursor: the cursor is not from the list of `kind`.
    """
    last = None if cursor is None else read_cursor(kind, cursor)
    return sorted(identifier for identifier in identifiers if last is None or identifier > last)


def descending(kind: str, identifiers: Iterable[Id], cursor: str | None) -> list[Id]:
    """Give the ids of a list that runs from the highest to the lowest, those up to the cursor left out.

    Raises:
        InvalidCursor: the cursor is not from the list of `kind`.
    """
    last = None if cursor is None else read_cursor(kind, cursor)
    return sorted((identifier for identifier in identifiers if last is None or identifier < last), reverse=True)


def collect(kind: str, identifiers: Iterable[Id], read: Callable[[Id], T | None], limit: int) -> Page[T]:
    """Read one page of the list of `kind`, from the ids that follow the cursor, in the order of the list.

    `read` gives None for what does not belong to the list. Not more is read than the page needs and one item, which
    tells whether another page follows.
    """
    items: list[T] = []
    damaged: list[Damaged] = []
    last = ""
    for identifier in identifiers:
        item: T | Damaged | None
        try:
            item = read(identifier)
        except StateError as error:
            item = Damaged(identifier, error)
        if item is None:
            continue
        if len(items) == limit:
            return Page(tuple(items), cursor_after(kind, last), tuple(damaged))
        if isinstance(item, Damaged):
            damaged.append(item)
        else:
            items.append(item)
            last = identifier
    return Page(tuple(items), None, tuple(damaged))
