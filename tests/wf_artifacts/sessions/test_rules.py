"""What may be stored, and after what."""

import pytest

from tests.wf_artifacts.sessions.samples import events, moved, new_session_id, session
from wf_artifacts.sessions.rules import belongs, is_event, require_first_state, require_next_state


@pytest.mark.parametrize("line", [b"{}", b'{"a":"\xff"}', b"{\r}"])
def test_an_event_is_an_object_on_one_line(line: bytes) -> None:
    assert is_event(line)


@pytest.mark.parametrize("line", [b"", b"[]", b"{}\n", b"{\n}", b" {}", b"{", b"}", b"null", b"\xef\xbb\xbf{}"])
def test_anything_else_is_no_event(line: bytes) -> None:
    assert not is_event(line)


def test_a_session_begins_with_as_many_events_as_its_record_counts() -> None:
    require_first_state(session(position=3), events(3))
    with pytest.raises(ValueError, match="2 events after 0 do not make 3"):
        require_first_state(session(position=3), events(2))


def test_what_follows_adds_its_events_to_those_before() -> None:
    earlier = session(position=3)
    require_next_state(earlier, moved(earlier, 2), events(2))
    require_next_state(earlier, moved(earlier, 0, status="failed"), [])
    with pytest.raises(ValueError, match="1 events after 3 do not make 3"):
        require_next_state(earlier, earlier, events(1))
    with pytest.raises(ValueError, match="cannot follow"):
        require_next_state(earlier, moved(session(new_session_id(9), position=3), 1), events(1))


def test_a_session_belongs_to_whom_it_belongs() -> None:
    one = session(status="waiting")
    assert belongs(one, None)
    assert belongs(one, "local", "waiting")
    assert not belongs(one, "other")
    assert not belongs(one, None, "ready")
