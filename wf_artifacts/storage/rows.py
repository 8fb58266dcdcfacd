"""Documents in the rows of a database: lists of them, and what is said of one that is damaged."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar
from zlib import crc32

from wf_artifacts.errors import NotFound
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.findings import Fault, unreadable
from wf_artifacts.storage.pages import Page, collect, read_cursor
from wf_artifacts.storage.records import Record
from wf_core.errors import StateCorrupt, StateError

R = TypeVar("R", bound=Record)
T = TypeVar("T")

FIRST = ""
"""Before every id."""
LAST = "~"
"""Behind every id."""


def blob(value: object, document: str) -> bytes:
    """Accept what a column of bytes holds; `document` names its row in errors.

    Raises:
        StateCorrupt: somebody put something else there.
    """
    if not isinstance(value, bytes):
        raise corrupt(document, "it is no document")
    return value


def checked(value: object, checksum: int | None, document: str, *, after: int = 0) -> bytes:
    """Accept what a column of bytes holds and the one beside it says, which is empty in rows of earlier versions.

    `after` is the checksum of what is said of it in other columns.

    Raises:
        StateCorrupt: it is not what was written.
    """
    data = blob(value, document)
    if checksum not in {None, crc32(data, after)}:
        raise corrupt(document, "it is not what was written")
    return data


def load(value: object, format: Format[R], document: str, **identity: object) -> R:
    """Read the document in a row. It has the `identity` that the other columns of the row promise.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read, or is another's.
    """
    return format.decode(blob(value, document), document, **identity)


def list_rows(
    kind: str,
    fetch: Callable[[str, int], list[Row]],
    read: Callable[[Row], T | None],
    *,
    start: str,
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """Read one page of the list of `kind`.

    `fetch` gives up to so many rows that follow an id, in the order of the list, each beginning with its own. It is
    asked once, unless rows are damaged or `read` gives None, for one that does not belong to the list.

    Raises:
        InvalidCursor: the cursor is not from this list.
    """
    rows: dict[str, Row] = {}

    def identifiers() -> Iterator[str]:
        after = start if cursor is None else read_cursor(kind, cursor)
        while True:
            batch = fetch(after, limit + 1)
            rows.update((row[0], row) for row in batch)
            yield from (row[0] for row in batch)
            if len(batch) <= limit:
                return
            after = batch[-1][0]

    return collect(kind, identifiers(), lambda identifier: read(rows[identifier]), limit)


def examine(
    document: str, read: Callable[[], object], repair: str | None = None, mend: Callable[[], None] | None = None
) -> Iterator[Fault]:
    """Report the row that `read` cannot read. One that is gone by now is none."""
    with suppress(NotFound):
        try:
            read()
        except StateCorrupt as error:
            where: str = error.details["document"]
            # Rows have a path. A database that is damaged as a whole is named by its file, and not mended row by row.
            yield unreadable(where, error, repair, mend) if "/" in where else unreadable(where, error)
        except StateError as error:
            yield unreadable(document, error)
