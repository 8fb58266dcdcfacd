"""Times are written one way, and read only as they are written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from wf_core.times import iso, parse_iso

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-11-30T12:00:00.000Z"),
        (NOON + timedelta(milliseconds=7), "2026-11-30T12:00:00.007Z"),
        (datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30))), "2026-11-30T06:30:00.000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
        (datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_written_time_is_read_again(moment: datetime, text: str) -> None:
    assert iso(moment) == text
    assert parse_iso(text) == moment


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        iso(NOON.replace(tzinfo=None))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00.0000Z",
        "2026-11-30T12:00:00.000+00:00",
        "2026-11-30T12:00:00.000",
        "2026-02-30T12:00:00.000Z",
        " 2026-11-30T12:00:00.000Z",
    ],
)
def test_any_other_text_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_iso(text)


@pytest.mark.parametrize("hours", [0, 5.5, -8])
def test_times_are_utc_with_milliseconds_whatever_zone_they_are_given_in(hours: float) -> None:
    there = (NOON + timedelta(microseconds=123_999)).astimezone(timezone(timedelta(hours=hours)))
    assert iso(there) == "2026-11-30T12:00:00.123Z"
