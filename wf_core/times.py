"""How a time is written: `2026-11-30T10:00:00.000Z`, in UTC and whole milliseconds."""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=16)
def iso(moment: datetime) -> str:
    """Write a time. Such texts sort like the times that they name.

    A moment is written some times in a row, for all that happens at it, and worked out once.

    Raises:
        ValueError: the time does not say where it stands from UTC.
    """
    if moment.tzinfo is not UTC:
        if moment.tzinfo is None:
            raise ValueError("a time without a zone names no moment")
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def parse_iso(text: str) -> datetime:
    """Read what `iso` writes, and only that.

    Raises:
        ValueError: the text is not such a time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not UTC or iso(moment) != text:
        raise ValueError(f"{text!r} is not a time like 2026-11-30T10:00:00.000Z")
    return moment
