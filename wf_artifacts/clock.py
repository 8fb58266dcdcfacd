"""Who says what time it is, and how a time is written.

Times are aware, UTC, and whole milliseconds, so that one that is written and read again is the same.
"""

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
        return _whole_milliseconds(datetime.now(UTC))


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


def iso(moment: datetime) -> str:
    """Write a time as `2026-11-30T10:00:00.000Z`. Such texts sort like the times that they name.

    Raises:
        ValueError: the time does not say where it stands from UTC.
    """
    if moment.tzinfo is None:
        raise ValueError("a time without a zone names no moment")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_iso(text: str) -> datetime:
    """Read what `iso` writes, and only that.

    Raises:
        ValueError: the text is not such a time.
    """
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        moment = None
    if moment is None or iso(moment) != text:
        raise ValueError(f"{text!r} is not a time like 2026-11-30T10:00:00.000Z")
    return moment


def _whole_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
