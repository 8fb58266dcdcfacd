"""Times are aware, UTC, and whole milliseconds."""

from datetime import UTC, datetime, timedelta

from wf_artifacts.clock import ManualClock, SystemClock

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_the_system_clock_gives_whole_milliseconds_in_utc() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert (now.tzinfo, now.microsecond % 1000) == (UTC, 0)


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(NOON + timedelta(microseconds=7))
    assert clock.now() == clock.now() == NOON
    assert clock.advance(timedelta(seconds=1.5)) == clock.now() == NOON + timedelta(seconds=1.5)
