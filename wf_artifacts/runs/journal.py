"""The journal of a run: one record a line, appended; entry n of the trace is found without reading those before it.

The first line is a document that says whose journal it is. Each other line is `{"n":12,"trace":{…}}`, where n counts
the trace entries before the record. The numbers ascend, so a line is found by halving the file. How many bytes count is
for run.json to say (`folder`): what lies beyond was never committed.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.records import Record
from wf_core import jsonvalue
from wf_core.errors import NotJson
from wf_core.ids import RunId


class Journal(Record):
    """What the first line says."""

    run_id: RunId


JOURNAL = Format("wf.run_journal", 1, Journal)

_NUMBER = re.compile(rb'\{"n":(\d+),')
_LONGEST_NUMBER = 30
"""Bytes that hold `_NUMBER`, whatever it counts."""


def first_line(run_id: RunId) -> bytes:
    """Write what a journal begins with."""
    return JOURNAL.encode(Journal(run_id=run_id)) + b"\n"


def lines(count: int, trace: Sequence[bytes]) -> bytes:
    """Write the entries that follow `count` others."""
    return b"".join(b'{"n":%d,"trace":%b}\n' % (number, entry) for number, entry in enumerate(trace, count))


def read(path: Path, document: str, *, length: int, run_id: RunId, numbers: range) -> list[dict[str, Any]]:
    """Give the entries with these numbers, of a journal of which `length` bytes count. They are among those.

    Raises:
        StateCorrupt: it is shorter than that, or a line that is needed cannot be read.
        FormatTooNew: a newer version wrote it.
    """
    with path.open("rb") as file:
        reader = _Reader(file, document, length)
        reader.require_journal_of(run_id)
        return reader.entries(numbers)


class _Reader:
    """An open journal."""

    def __init__(self, file: BinaryIO, document: str, length: int) -> None:
        self._file = file
        self._document = document
        self._end = length
        self._begin = 0

    def require_journal_of(self, run_id: RunId) -> None:
        """Read the first line."""
        if self._file.seek(0, 2) < self._end:
            raise corrupt(self._document, f"it is shorter than {self._end} bytes")
        self._file.seek(0)
        line = self._file.readline(self._end)
        self._begin = len(line)
        found = JOURNAL.decode(line, self._document).run_id
        if found != run_id:
            raise corrupt(self._document, f"it belongs to {found}")

    def entries(self, numbers: range) -> list[dict[str, Any]]:
        """Give the entries with these numbers, reading not more than they take."""
        self._file.seek(self._find(numbers.start))
        return [self._entry(number) for number in numbers]

    def _find(self, number: int) -> int:
        """Give the place of the line with a number."""
        low, high = self._begin, self._end
        while low < high:
            # The line, if there is one, begins in [low, high).
            middle = (low + high) // 2
            place = self._next_line(middle, high)
            found = self._number_at(place) if place < high else None
            if found == number:
                return place
            if found is None or found > number:
                high = middle
            else:
                low = place + 1
        raise corrupt(self._document, f"entry {number} is missing")

    def _next_line(self, place: int, high: int) -> int:
        """Give the place of the first line that begins at `place` or behind it, or `high` where none does before."""
        self._file.seek(place - 1)
        return place - 1 + len(self._file.readline(high - place + 1))

    def _number_at(self, place: int) -> int:
        self._file.seek(place)
        match = _NUMBER.match(self._file.read(_LONGEST_NUMBER))
        if match is None:
            raise corrupt(self._document, f"no record begins at byte {place}")
        return int(match[1])

    def _entry(self, number: int) -> dict[str, Any]:
        """Read the line where the file stands."""
        place = self._file.tell()
        try:
            record = jsonvalue.loads(self._file.readline(self._end - place))
        except NotJson as error:
            raise corrupt(self._document, f"the record at byte {place} holds {error.reason}") from error
        match record:
            case {"n": int(found), "trace": {**entry}} if found == number:
                return entry
            case _:
                raise corrupt(self._document, f"the record at byte {place} is not entry {number}")
