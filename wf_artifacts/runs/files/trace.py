"""The trace of a run: one entry a line, in segments, so that no file grows without bound.

    journal/000001.jsonl, journal/000002.jsonl …

The first line of a segment says whose it is and which entry it begins with. Each other line is an entry:

    {"n":12,"trace":{…},"crc32":3421780262}

n counts the entries before. A segment that is long enough is never touched again. How much of the last one counts is
for run.json to say: what lies beyond was never committed. Entries that no checkpoint has taken in are in `inputs`.

Lines of segments that earlier versions began have no checksum. Such a segment is followed by another.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from pydantic import Field

from wf_artifacts.runs.files.lines import NumberedLines
from wf_artifacts.storage.atomic import Writing
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.reading import open_document
from wf_artifacts.storage.records import Record
from wf_core import jsonvalue
from wf_core.codec.checksums import is_sealed, sealed
from wf_core.errors import NotJson, StateError
from wf_core.ids import RunId

SEGMENT_BYTES: Final = 1024 * 1024
"""A segment that is at least so long is followed by another."""


class SegmentHeader(Record):
    """What the first line says."""

    run_id: RunId
    first: int = Field(ge=0)
    """The number of the first entry."""


SEGMENT_HEADER = Format(
    "wf.run_journal",
    3,
    SegmentHeader,
    # Version 1 knew one segment alone.
    upgrades={1: lambda body: {**body, "first": 0}},
    plain=2,
)


class Segment(Record):
    """The last segment of a trace."""

    number: int = Field(ge=1)
    first: int = Field(ge=0)
    """The number of its first entry."""
    length: int = Field(ge=0)
    """How many of its bytes count. 0 where the trace has no entry yet; then the file need not be there."""
    plain: int = Field(default=0, ge=0)
    """How many segments of the trace, the first, hold entries without checksums."""


NO_TRACE: Final = Segment(number=1, first=0, length=0)


class Piece(NamedTuple):
    """What is to be written to one segment."""

    segment: Segment
    """As it is afterwards."""
    data: bytes


def writings(folder: Path, pieces: Sequence[Piece]) -> list[Writing]:
    """Give what is to be written to bring pieces into the segments in the folder of the journal."""
    return [
        Writing(segment_path(folder, piece.segment.number), piece.data, piece.segment.length - len(piece.data))
        for piece in pieces
    ]


def segment_path(folder: Path, number: int) -> Path:
    """Name a segment in the folder of the journal."""
    return folder / f"{number:06}.jsonl"


def pieces(last: Segment, run_id: RunId, count: int, entries: Sequence[bytes]) -> Iterator[Piece]:
    """Lay out the entries that follow `count` others, of which `last` holds the last ones."""
    segment, first, length = last.number, last.first, last.length
    data = bytearray()
    for number, entry in enumerate(entries, count):
        if length >= SEGMENT_BYTES or segment <= last.plain:
            if data:
                yield Piece(Segment(number=segment, first=first, length=length, plain=last.plain), bytes(data))
            segment, first, length = segment + 1, number, 0
            data.clear()
        line = sealed(_beginning(number) + entry) + b"\n"
        if length == 0:
            line = SEGMENT_HEADER.encode(SegmentHeader(run_id=run_id, first=first)) + b"\n" + line
        data += line
        length += len(line)
    if data:
        yield Piece(Segment(number=segment, first=first, length=length, plain=last.plain), bytes(data))


class Trace:
    """The segments of a run, for reading. `name` names a file in errors."""

    def __init__(self, folder: Path, name: Callable[[Path], str], run_id: RunId, last: Segment) -> None:
        self._folder = folder
        self._name = name
        self._run_id = run_id
        self._last = last

    def entries(self, numbers: range) -> list[dict[str, Any]]:
        """Give the entries with these numbers, which are there. Reads little more than those.

        Raises:
            StateCorrupt: a segment is shorter than what was committed, or a line that is needed cannot be read.
            FormatTooNew: a newer version wrote it.
            FileNotFoundError: a segment is missing.
        """
        found: list[dict[str, Any]] = []
        segment = self._segment_of(numbers.start)
        while len(found) < len(numbers):
            found += self._read(segment, numbers[len(found) :])
            segment += 1
        return found

    def damage(self, count: int) -> Iterator[tuple[Path, StateError]]:
        """Read every segment, and give those that are damaged, and why. Together they hold `count` entries."""
        following: int | None = 0
        for number in range(1, self._last.number + 1) if count else ():
            path = segment_path(self._folder, number)
            try:
                first, end = self._ends(number)
                if following not in {None, first}:
                    raise corrupt(self._name(path), f"entry {following} is missing")
                following = end
            except FileNotFoundError:
                following = None
                yield path, corrupt(self._name(path), "it is missing")
            except StateError as error:
                following = None
                yield path, error
        if following not in {None, count}:
            path = segment_path(self._folder, self._last.number)
            yield path, corrupt(self._name(path), f"entry {following} is missing")

    def _segment_of(self, number: int) -> int:
        """Give the segment that holds an entry."""
        low, high = 1, self._last.number
        if number >= self._last.first:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            with self._file(middle) as file:
                low, high = (middle, high) if self._header(file, middle).first <= number else (low, middle)
        return low

    def _read(self, segment: int, numbers: range) -> Iterator[dict[str, Any]]:
        """Give those of the entries that a segment holds; it holds the first."""
        with self._open(segment) as (lines, document):
            lines.find(numbers.start)
            for number in numbers:
                line = lines.next()
                if not line and number > numbers.start:
                    return
                yield self._entry(segment, line, number, document)

    def _ends(self, segment: int) -> tuple[int, int]:
        """Read a whole segment, and give the number of its first entry and that of the one behind its last."""
        with self._file(segment) as file:
            first = number = self._header(file, segment).first
        with self._open(segment) as (lines, document):
            while line := lines.next():
                self._entry(segment, line, number, document)
                number += 1
        return first, number

    @contextmanager
    def _open(self, segment: int) -> Generator[tuple[NumberedLines, str]]:
        """Open a segment at its first entry."""
        path = segment_path(self._folder, segment)
        with self._file(segment) as file:
            end = file.seek(0, 2)
            if segment == self._last.number:
                if end < self._last.length:
                    raise corrupt(self._name(path), f"it is shorter than {self._last.length} bytes")
                end = self._last.length
            self._header(file, segment)
            yield NumberedLines(file, self._name(path), begin=file.tell(), end=end), self._name(path)

    def _file(self, segment: int) -> BinaryIO:
        path = segment_path(self._folder, segment)
        return open_document(path, self._name(path))

    def _header(self, file: BinaryIO, segment: int) -> SegmentHeader:
        """Read the first line of a segment."""
        file.seek(0)
        document = self._name(segment_path(self._folder, segment))
        header = SEGMENT_HEADER.decode(file.readline().removesuffix(b"\n"), document)
        if header.run_id != self._run_id:
            raise corrupt(document, f"it belongs to {header.run_id}")
        return header

    def _entry(self, segment: int, line: bytes, number: int, document: str) -> dict[str, Any]:
        if segment > self._last.plain and not is_sealed(line, b"}\n"):
            raise corrupt(document, f"the record of entry {number} is not what was written")
        return _entry(line, number, document)


def _beginning(number: int) -> bytes:
    return b'{"n":%d,"trace":' % number


def _entry(line: bytes, number: int, document: str) -> dict[str, Any]:
    try:
        record = jsonvalue.loads(line)
    except NotJson as error:
        raise corrupt(document, f"the record of entry {number} holds {error.reason}") from error
    match record:
        case {"n": int(found), "trace": {**entry}} if found == number:
            return entry
        case _:
            raise corrupt(document, f"the record found is not entry {number}")
