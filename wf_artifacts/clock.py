"""Who says what time it is.

Times are aware, UTC, and whole milliseconds, so that one that is written (`wf_core.times`) and read again is the same.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where a driver asks for the time."""

    def now(self) -> datetime:
        """Give the present moment: aware, UTC, whole milliseconds."""
        ...


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        # Every step asks for it, and this is the shortest way to whole milliseconds.
        return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


class ManualClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, start: datetime) -> None:
        self._now = _whole_milliseconds(start.astimezone(UTC))

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Go on, and give the new time."""
        self._now = _whole_milliseconds(self._now + by)
        return self._now


def _whole_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
