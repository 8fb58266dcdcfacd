"""Files whose lines begin with numbers that never descend: a line is found by halving the file.

A line is an object whose first member is `n`. What a line holds is for `trace` and `inputs` to say.
"""

import re
from typing import BinaryIO

from wf_artifacts.storage.documents import corrupt

_NUMBER = re.compile(rb'\{"n":(\d+),')
_LONGEST_NUMBER = 30
"""Bytes that hold `_NUMBER`, whatever it counts."""


class NumberedLines:
    """The lines between two places of an open file."""

    def __init__(self, file: BinaryIO, document: str, *, begin: int, end: int) -> None:
        self._file = file
        self._document = document
        self._begin = begin
        self._end = end

    def find(self, number: int) -> None:
        """Let `next` begin with the last line whose number is not above `number`, reading little of the file.

        Raises:
            StateCorrupt: there is none, or no line begins where one should.
        """
        found: int | None = None
        low, high = self._begin, self._end
        while low < high:
            middle = (low + high) // 2
            place = self._next_line(middle, high)
            if place < high and self._number_at(place) <= number:
                found, low = place, place + 1
            else:
                high = middle
        if found is None:
            raise corrupt(self._document, f"entry {number} is missing")
        self._file.seek(found)

    def next(self) -> bytes:
        """Give the line where the file stands; empty at the end."""
        return self._file.readline(self._end - self._file.tell())

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
