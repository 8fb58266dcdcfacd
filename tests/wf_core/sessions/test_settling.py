"""What waits to be told is told as soon as there is a turn to tell it in."""

import pytest

from tests.wf_core.conversations import call, start
from wf_core.calls.results import text_result
from wf_core.sessions import Notice, UserTurn, answer, begin
from wf_core.sessions.settling import holdable, join_queued, settle

NOTICE = Notice("t9.0", "build", text_result("built"))


def test_words_are_joined_with_blank_lines_and_count_as_spoken() -> None:
    session = start("One.")
    answer(session, "", [call("nothing")])
    session.queries = ["Two.", "", "Three."]
    join_queued(session)
    last = session.turns[-1]
    assert isinstance(last, UserTurn)
    assert (last.query, len(last.results)) == ("Two.\n\n\n\nThree.", 1)
    assert (session.asked, session.queries) == (0, [])


def test_notices_alone_do_not_count_as_spoken() -> None:
    session = start()
    answer(session, "Done.")
    session.notices = [NOTICE]
    settle(session)
    assert session.turns[-1] == UserTurn("t2", notices=(NOTICE,))
    assert session.asked == 1


def test_only_a_user_turn_is_joined() -> None:
    session = start()
    answer(session, "Done.")
    with pytest.raises(AssertionError):
        join_queued(session)


def test_a_turn_can_be_held_when_nothing_in_it_can_be_begun_or_delivered() -> None:
    session = start()
    assert not holdable(session)
    answer(session, "", [call("write"), call("write")])
    begin(session, ["t2.0"])
    assert not holdable(session)
    begin(session, ["t2.1"])
    assert holdable(session)
