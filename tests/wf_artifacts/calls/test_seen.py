"""What is known of calls that were looked at."""

from datetime import timedelta

from tests.wf_artifacts.calls.samples import continuation, token
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import Waiting
from wf_artifacts.calls.seen import Seen


def test_a_call_is_known_by_the_mark_under_which_it_was_read_and_by_no_other() -> None:
    seen = Seen()
    seen.note(Waiting(continuation=continuation()), 1)
    assert [seen.state(token(), mark, NOW) for mark in (1, 2)] == ["open", None]
    seen.note(Waiting(continuation=continuation(), state="closed"), 2)
    assert [seen.state(token(), mark, NOW) for mark in (1, 2)] == [None, "closed"]
    assert seen.state(token(1), 1, NOW) is None


def test_a_call_whose_time_has_come_is_read() -> None:
    seen = Seen()
    seen.note(Waiting(continuation=continuation(expires_at=LATER)), 1)
    assert seen.state(token(), 1, LATER - timedelta(milliseconds=1)) == "open"
    assert seen.state(token(), 1, LATER) is None


def test_no_more_are_known_than_there_is_room_for() -> None:
    seen = Seen(most=2)
    for number in (0, 1, 1, 2):
        seen.note(Waiting(continuation=continuation(number)), 1)
    assert [seen.state(token(number), 1, NOW) for number in range(3)] == [None, "open", "open"]
