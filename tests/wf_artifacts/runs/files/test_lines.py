"""A line is found by its number, whatever the lines around it look like, and little is read on the way."""

import io
from collections.abc import Sequence

import pytest

from wf_artifacts.runs.files.lines import NumberedLines
from wf_core.errors import StateCorrupt

HEADER = b"what comes before\n"


class Watched(io.BytesIO):
    """A file that counts the bytes that are read."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().readline(size))

    def _counted(self, data: bytes) -> bytes:
        self.read_bytes += len(data)
        return data


def line(number: int, length: int = 0) -> bytes:
    return b'{"n":%d,"x":"%b"}\n' % (number, b"y" * length)


def find(numbers: Sequence[int], wanted: int) -> list[int]:
    """Give the places, among lines of these numbers, of those that follow once one is found."""
    data = HEADER + b"".join(line(number, index * 53 % 400) for index, number in enumerate(numbers))
    lines = NumberedLines(io.BytesIO(data), "file", begin=len(HEADER), end=len(data))
    lines.find(wanted)
    rest = 0
    while lines.next():
        rest += 1
    return list(range(len(numbers)))[len(numbers) - rest :]


@pytest.mark.parametrize("count", [1, 2, 3, 50, 200])
def test_a_line_with_a_number_is_found(count: int) -> None:
    for wanted in range(count):
        assert find(range(count), wanted) == list(range(wanted, count))


@pytest.mark.parametrize(
    ("numbers", "wanted", "first"),
    [([0, 0, 0, 2], 0, 2), ([0, 0, 0, 2], 1, 2), ([0, 3, 3, 5], 3, 2), ([0, 3, 3, 5], 9, 3), ([4, 7], 6, 0)],
)
def test_of_the_lines_that_are_not_above_a_number_it_is_the_last(numbers: list[int], wanted: int, first: int) -> None:
    assert find(numbers, wanted)[0] == first


def test_a_number_below_all_is_missing() -> None:
    with pytest.raises(StateCorrupt, match="entry 3 is missing"):
        find([4, 7], 3)


def test_a_file_without_lines_holds_no_number() -> None:
    with pytest.raises(StateCorrupt, match="entry 0 is missing"):
        find([], 0)


def test_a_line_that_is_none_is_damage() -> None:
    data = HEADER + b"garbage\n" * 10
    lines = NumberedLines(io.BytesIO(data), "file", begin=len(HEADER), end=len(data))
    with pytest.raises(StateCorrupt, match="no record begins at byte"):
        lines.find(3)


def test_what_lies_beyond_the_end_is_not_seen() -> None:
    data = HEADER + line(0) + line(1)
    lines = NumberedLines(io.BytesIO(data), "file", begin=len(HEADER), end=len(data) - len(line(1)))
    lines.find(5)
    assert lines.next() == line(0)
    assert lines.next() == b""


def test_little_is_read_of_a_long_file() -> None:
    data = HEADER + b"".join(line(number, 100) for number in range(100_000))
    file = Watched(data)
    lines = NumberedLines(file, "file", begin=len(HEADER), end=len(data))
    lines.find(99_990)
    assert lines.next() == line(99_990, 100)
    assert file.read_bytes < 10_000
