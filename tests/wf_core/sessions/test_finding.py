"""Calls are found by their ids, without reading the history."""

import pytest

from tests.wf_core.conversations import call, start
from wf_core.calls.results import text_result
from wf_core.errors import CallAlreadyCompleted, UnknownCall
from wf_core.sessions import Session, answer, begin, complete, find_call, hold, open_calls
from wf_core.sessions.finding import turn_id


def opened() -> Session:
    session = start()
    answer(session, "", [call("build"), call("write")])
    begin(session, ["t2.0"])
    complete(session, "t2.1", text_result("done"))
    return session


def test_an_ended_call_of_a_partial_turn_is_found_and_is_not_open() -> None:
    session = opened()
    assert find_call(session, "t2.1").state == "completed"
    assert [one.id for one in open_calls(session)] == ["t2.0"]


def test_a_held_call_is_found_and_its_ended_sibling_has_ended() -> None:
    session = opened()
    hold(session)
    assert find_call(session, "t2.0") is session.held["t2.0"]
    with pytest.raises(CallAlreadyCompleted, match=r"t2\.1 of write"):
        find_call(session, "t2.1")
    answer(session, "", [call("write")])
    assert [one.id for one in open_calls(session)] == ["t2.0", "t4.0"]


def test_others_are_not_found() -> None:
    session = opened()
    for wrong in ("t2.2", "t0.0", "t1.0", "t02.0", "t2.-1", "2.0", "tt2.0", "t2.0 ", "t" + "9" * 5000 + ".0"):
        with pytest.raises(UnknownCall):
            find_call(session, wrong)


def test_nothing_is_open_before_the_start() -> None:
    session = Session("sess_1", "s", start().agent)
    assert list(open_calls(session)) == []
    assert turn_id(session) == "t0"
