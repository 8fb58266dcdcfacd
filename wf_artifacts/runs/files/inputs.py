"""The inputs that a run was given since its latest checkpoint, appended to one file.

    journal/inputs_000003.jsonl     since checkpoint 3

The first line says whose they are, and with which position they begin. Each other line is one input with what it made
of the run:

    {"n":12,"entries":2,"steps":5,"safe":1,"position":7,"input":{…},"trace":[{…},{…}],"crc32":3421780262}

n counts the trace entries before, and steps those executed. Only whole lines count: a process that dies leaves at most
a torn end behind, which nobody was told of. safe counts the inputs of the file that are on disk, or will be before
anybody is told of this one. So where a machine that dies leaves a hole among lines that were not synced, the line
behind it tells that nobody was told of any of them: they do not count. Neither do lines at the end that the disk was
never given: zeros stand in their place. Any other line that says something else than was written is damage.

Behind the lines there may be room for more (`room`).
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from pydantic import Field

from wf_artifacts.runs.files.lines import NumberedLines
from wf_artifacts.runs.files.room import RoomyFile
from wf_artifacts.runs.models import JournalRecord
from wf_artifacts.runs.rules import journal_line, require_next_inputs, trace_of
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.records import Record
from wf_core.codec.checksums import is_sealed, sealed, unsealed
from wf_core.errors import StateCorrupt
from wf_core.frozen import frozen
from wf_core.ids import RunId

_LINE = re.compile(rb'\{"n":(\d+),"entries":(\d+),"steps":(\d+),(?:"safe":(\d+),)?(?="position":(\d+),)')
_CHUNK = 16 * 1024
"""Bytes to look through at once for the beginning of the last line."""
_LONGEST_BEGINNING: Final = 256
"""Bytes that hold `_LINE`, whatever it counts."""

ROOM_FROM: Final = 2
"""How many lines a file has at least before it is worth room."""
_SECTOR: Final = 512
"""Where a disk that loses power begins and ends to lack what it was given."""
_ZEROS: Final = re.compile(rb"\0+")


class InputsHeader(Record):
    """What the first line says."""

    run_id: RunId
    checkpoint: int = Field(ge=1)
    first: int | None = Field(default=None, ge=1)
    """The position of the first input. None where nothing says it."""

    def before(self, records: Sequence[JournalRecord]) -> "InputsHeader":
        """Give the header of a file that begins with these inputs."""
        return self.model_copy(update={"first": records[0].position}) if records else self


def _as_it_is(body: dict[str, Any]) -> dict[str, Any]:
    """Take a header of version 1, whose lines do not say what is safe, or of version 3, which does not say `first`."""
    return body


INPUTS_HEADER = Format("wf.run_inputs", 4, InputsHeader, upgrades={1: _as_it_is, 3: _as_it_is}, plain=2)


@frozen
class Progress:
    """How far a run is."""

    trace_count: int
    steps_executed: int
    position: int | None
    """Of the last input that the latest checkpoint lacks. None where it lacks none."""


@frozen
class Inputs:
    """What a file says."""

    lines: list[bytes]
    """As `RunStore.load_journal` gives them."""
    progress: Progress | None
    """After the last line. None where there is none."""
    length: int
    """How many bytes count."""
    safe: int | None
    """How many lines somebody may have been told of. None where the lines do not say so: they are of version 1."""
    first_entry: int | None = None
    """How many trace entries the run had before the first line. None where there is none."""

    def entries(self, document: str, numbers: range) -> list[dict[str, Any]]:
        """Give the trace entries with these numbers, which are among the last."""
        made = [entry for line in self.lines for entry in trace_of(line)]
        before = (self.progress.trace_count if self.progress else numbers.start) - len(made)
        missing = sorted({*numbers} - {*range(before, before + len(made))})
        if missing:
            raise corrupt(document, f"entry {missing[0]} is missing")
        return made[numbers.start - before : numbers.stop - before]


NO_INPUTS: Final = Inputs([], None, 0, 0)


def inputs_path(folder: Path, checkpoint: int) -> Path:
    """Name the file of a checkpoint in the folder of the journal."""
    return folder / f"inputs_{checkpoint:06}.jsonl"


def parse(data: bytes, document: str, *, run_id: RunId, checkpoint: int) -> Inputs:
    """Read a whole file.

    Raises:
        StateCorrupt: a line is damaged, or does not follow the one before.
        FormatTooNew: a newer version wrote it.
    """
    length = data.rfind(b"\n") + 1
    if is_sealed(data[length:].rstrip(b"\0")[:-1]):
        # What is torn lacks its end, or zeros stand there.
        raise corrupt(document, "another byte stands where its last line ends")
    if not length:
        return NO_INPUTS
    header, *lines = data[: length - 1].split(b"\n")
    found = NO_INPUTS
    try:
        first = _require_header(header, document, run_id, checkpoint).first
        found = Inputs([], None, len(header) + 1, 0)
        for line in lines:
            found = _with_line(found, line, document, first)
    except StateCorrupt:
        # A hole: nothing behind it counts, if nobody can have been told of what it took.
        if not _is_unknown(data[: length - 1], found, document):
            raise
    return found


def _with_line(found: Inputs, line: bytes, document: str, first: int | None) -> Inputs:
    given = _decode(line, document)
    if found.progress is not None:
        _require_follows(found.progress, given, document)
    elif first is not None and given.progress.position != first:
        raise corrupt(document, f"it begins with position {given.progress.position}, not {first}")
    found.lines.append(given.text)
    first_entry = given.first_entry if found.first_entry is None else found.first_entry
    return Inputs(found.lines, given.progress, found.length + len(line) + 1, given.safe, first_entry)


def _is_unknown(data: bytes, found: Inputs, document: str) -> bool:
    """Tell whether nobody can have been told of the lines behind those that were `found`."""
    if found.safe is None:
        return False
    end = len(data)
    for line in reversed(data[found.length :].split(b"\n")):
        try:
            safe = _decode(line, document).safe
        except StateCorrupt:
            if not _lacks_sectors(line, end - len(line)):
                return False
        else:
            return safe is not None and safe <= len(found.lines)
        end -= len(line) + 1
    return True


def _lacks_sectors(line: bytes, at: int) -> bool:
    """Tell whether a line at this place holds zeros, all of them where the disk was not given what was written."""
    holes = [(hole.start(), hole.end()) for hole in _ZEROS.finditer(line)]
    return bool(holes) and all(
        (start == 0 or (at + start) % _SECTOR == 0) and (at + end) % _SECTOR == 0 for start, end in holes
    )


def last_progress(file: BinaryIO, document: str) -> Progress | None:
    """Read of an open file only how far its last line leads. None where it has no line."""
    end = _line_start(file, file.seek(0, 2))
    start = _line_start(file, max(end - 1, 0))
    if not start:
        return None
    file.seek(start)
    last = _decode(file.read(end - 1 - start), document).progress
    before = _line_start(file, start - 1)
    if before:
        file.seek(before)
        match = _LINE.match(file.read(_LONGEST_BEGINNING))
        if match is None or int(match[5]) + 1 != last.position:
            raise corrupt(document, f"position {last.position} does not follow the one before")
    return last


def read_entries(file: BinaryIO, document: str, numbers: range) -> list[dict[str, Any]]:
    """Give the trace entries with these numbers, which are there, of an open file."""
    end = _line_start(file, file.seek(0, 2))
    file.seek(0)
    file.readline()
    lines = NumberedLines(file, document, begin=file.tell(), end=end)
    lines.find(numbers.start)
    found: list[dict[str, Any]] = []
    last: Progress | None = None
    while len(found) < len(numbers) and (line := lines.next()):
        given = _decode(line[:-1], document)
        entries = trace_of(given.text)
        if last is None:
            entries = entries[numbers.start - given.first_entry :]
            if not entries:
                break
        elif given.first_entry != last.trace_count:
            raise corrupt(document, f"entry {last.trace_count} is missing")
        else:
            _require_follows(last, given, document)
        last = given.progress
        found += entries
    if len(found) < len(numbers):
        raise corrupt(document, f"entry {numbers.start + len(found)} is missing")
    return found[: len(numbers)]


class InputsFile:
    """The file of a run whose lock is held, to be appended to. It is made by the first input."""

    def __init__(self, path: Path, header: InputsHeader, found: Inputs, progress: Progress) -> None:
        """Append to a file that was `found` so."""
        self.progress = progress
        """Of the run, with everything that was appended."""
        self.length = found.length
        """How many bytes count."""
        self._count = len(found.lines)
        self._safe = found.safe
        self._outstanding: tuple[Progress, int, int, int | None] | None = None
        """How far all this was when everything was on disk that is to be. None where it is."""
        self._header = header
        self._file = RoomyFile(path)

    def append(self, records: Sequence[JournalRecord], *, sync: bool) -> None:
        """Append inputs in one write. Where it fails, the file is as before. With `sync`, `synced` is to follow.

        Raises:
            ValueError: they do not follow what was appended before.
            OSError: they could not be written.
        """
        require_next_inputs(self.progress.position, records)
        count = self.progress.trace_count
        lines = [] if self.length else [INPUTS_HEADER.encode(self._header.before(records))]
        safe = self._count + len(records) if sync and self._safe is not None else self._safe
        for record in records:
            lines.append(_encode(count, record, safe))
            count += len(record.trace)
        data = b"".join([line + b"\n" for line in lines])
        room = self._count >= ROOM_FROM and self._safe is not None
        try:
            self._file.append(data, at=self.length, sync=sync, room=room)
        except BaseException:
            self._file.cut(at=self.length)
            raise
        if sync and self._outstanding is None:
            self._outstanding = (self.progress, self.length, self._count, self._safe)
        if records:
            self.progress = Progress(count, records[-1].steps_executed, records[-1].position)
        self.length += len(data)
        self._count += len(records)
        self._safe = safe

    def synced(self) -> None:
        """Wait until everything that was appended with `sync` is on disk. Where it fails, what was not is removed.

        Raises:
            OSError: it could not be brought there.
        """
        try:
            self._file.synced()
        except BaseException:
            if self._outstanding is not None:
                self.progress, self.length, self._count, self._safe = self._outstanding
            self._file.cut(at=self.length)
            raise
        finally:
            self._outstanding = None

    def trim(self) -> None:
        """Give up the room behind what counts."""
        self._file.trim(at=self.length)

    def close(self) -> None:
        """Close it. It may be appended to again."""
        self._file.close()


def _encode(count: int, record: JournalRecord, safe: int | None) -> bytes:
    body = b'{"n":%d,"entries":%d,"steps":%d,%b%b' % (
        count,
        len(record.trace),
        record.steps_executed,
        b"" if safe is None else b'"safe":%d,' % safe,
        journal_line(record)[1:-1],
    )
    return sealed(body)


class _Given(NamedTuple):
    """What a line says."""

    text: bytes
    """As `RunStore.load_journal` gives it."""
    first_entry: int
    progress: Progress
    """How far it leads."""
    safe: int | None


def _require_follows(last: Progress, given: _Given, document: str) -> None:
    """Accept a line behind one that led to `last`. The entries of a commit without a checkpoint may be between them."""
    if given.progress.position != cast("int", last.position) + 1:
        raise corrupt(document, f"position {given.progress.position} does not follow {last.position}")
    if given.first_entry < last.trace_count:
        raise corrupt(document, f"entry {given.first_entry} does not follow {last.trace_count - 1}")


def _decode(line: bytes, document: str) -> _Given:
    """Read a line."""
    body = unsealed(line)
    match = None if body is None else _LINE.match(body)
    if body is None or match is None:
        raise corrupt(document, "a line is not what was written")
    count, entries, steps, _, position = (int(group or 0) for group in match.groups())
    safe = None if match[4] is None else int(match[4])
    return _Given(b"{%b}" % body[match.end() :], count, Progress(count + entries, steps, position), safe)


def _require_header(line: bytes, document: str, run_id: RunId, checkpoint: int) -> InputsHeader:
    header = INPUTS_HEADER.decode(line, document)
    if (header.run_id, header.checkpoint) != (run_id, checkpoint):
        raise corrupt(document, f"it belongs to checkpoint {header.checkpoint} of {header.run_id}")
    return header


def _line_start(file: BinaryIO, end: int) -> int:
    """Give the place behind the last line break before `end`, 0 where there is none."""
    while end > 0:
        begin = max(0, end - _CHUNK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
