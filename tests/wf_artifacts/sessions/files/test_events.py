"""Events are read as they were written, or refused; those of version 1, which have no checksums, too."""

import pytest

from tests.wf_artifacts.sessions.samples import events
from wf_artifacts.sessions.files.events import event_lines, read_events
from wf_core.errors import StateCorrupt

LINES = event_lines(events(3), since=0)
PLAIN = b"".join(event + b"\n" for event in events(2))


def test_events_come_back() -> None:
    assert read_events(LINES, "events", plain_bytes=0) == events(3)
    assert read_events(b"", "events", plain_bytes=0) == []
    assert LINES.splitlines()[0] == b'{"n":0,"event":{"n":0,"kind":"begin"},"crc32":1932953457}'


def test_a_line_costs_the_same_whatever_came_before() -> None:
    more = event_lines(events(2, since=1000), since=1000)
    assert read_events(LINES + event_lines(events(1, since=3), since=3), "events", plain_bytes=0) == events(4)
    assert len(more) < len(event_lines(events(2), since=0)) + 20


def test_events_without_checksums_are_read_and_followed_by_others() -> None:
    assert read_events(PLAIN, "events", plain_bytes=len(PLAIN)) == events(2)
    data = PLAIN + event_lines(events(2, since=2), since=2)
    assert read_events(data, "events", plain_bytes=len(PLAIN)) == events(4)


@pytest.mark.parametrize("place", range(len(LINES)))
def test_every_byte_that_was_changed_is_noticed(place: int) -> None:
    with pytest.raises(StateCorrupt, match="events is damaged"):
        read_events(LINES[:place] + bytes([LINES[place] ^ 2]) + LINES[place + 1 :], "events", plain_bytes=0)


def test_lines_in_another_order_are_noticed() -> None:
    first, second, third = LINES.splitlines(keepends=True)
    for data in (second + first + third, first + third, first + first + second):
        with pytest.raises(StateCorrupt, match=r"line \d is not what was written"):
            read_events(data, "events", plain_bytes=0)


@pytest.mark.parametrize("wrong", [-1, 1])
def test_another_count_of_bytes_without_checksums_is_noticed(wrong: int) -> None:
    data = PLAIN + event_lines(events(2, since=2), since=2)
    with pytest.raises(StateCorrupt, match="no line ends"):
        read_events(data, "events", plain_bytes=len(PLAIN) + wrong)


def test_what_is_no_event_is_refused_where_there_are_no_checksums() -> None:
    with pytest.raises(StateCorrupt, match="line 2 is no event"):
        read_events(b'{"n":0}\nnull\n', "events", plain_bytes=13)
