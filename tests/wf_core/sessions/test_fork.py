"""A fork goes on from where its session stands, under other tokens, and changes nothing of it."""

import json

import pytest

from tests.wf_core.conversations import Replayed, call, calls, start, states
from wf_core.calls.results import text_result
from wf_core.codec.sessions import dump_session
from wf_core.errors import IllegalTransition
from wf_core.sessions import (
    AskModel,
    Delivered,
    Parent,
    UserTurn,
    answer,
    begin,
    complete,
    defer,
    fork,
    hold,
    next_action,
    say,
    token_of,
    wake_session,
)
from wf_core.sessions import start as start_session
from wf_core.sessions.events import Started
from wf_core.sessions.journal import record


def test_open_calls_keep_their_place_and_get_other_tokens() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("remote"), call("write"), call("watch"), call("remote"), call("write")])
    token = held.do(defer, "t2.0")
    held.do(begin, ["t2.1", "t2.2"])
    held.do(complete, "t2.4", text_result("done"))
    held.do(say, "Hello?")
    before = dump_session(held.session)
    other = Replayed(fork(held.session, id="sess_2", seed="another"))
    assert dump_session(held.session) == before
    assert states(other.session) == ["deferred", "in_doubt", "ready", "ready", "completed"]
    assert calls(other.session)[0].continuation_token == token_of(other.session, "t2.0") != token
    assert other.do(wake_session, [(token, Delivered(text_result("stray")))]) == [token]
    other.do(begin, ["t2.3"])
    assert states(held.session) == ["deferred", "running", "running", "ready", "completed"]


def test_what_goes_on_elsewhere_for_the_original_is_in_doubt_in_the_copy() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("remote"), call("write"), call("remote")])
    token = held.do(defer, "t2.0", reason="the run r waits")
    held.do(defer, "t2.2")
    other = Replayed(fork(held.session, id="sess_2", seed="another", begun={"t2.0", "t2.1"}))
    assert states(other.session) == ["in_doubt", "in_doubt", "deferred"]
    for one in calls(other.session)[:2]:
        assert one.reason == f"the session {held.session.id}, of which this is a copy, made it"
        assert one.continuation_token == token_of(other.session, one.id) != token
    assert states(held.session) == ["deferred", "ready", "deferred"]


def test_held_calls_and_waiting_words_come_along() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("watch")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    held.do(complete, "t2.0", text_result("built"))
    held.do(say, "And?")
    other = Replayed(fork(held.session, id="sess_2", seed="another"))
    assert other.session.notices == held.session.notices
    assert other.session.queries == ["And?"]
    assert [one.state for one in other.session.held.values()] == ["ready"]
    assert held.session.held["t2.1"].state == "running"


def test_the_model_of_a_fork_is_told_that_nobody_knows_of_what_ran() -> None:
    """What runs is the original's, and its result comes to that one."""
    held = Replayed(start())
    held.do(answer, "", [call("build")])
    held.do(begin, ["t2.0"])
    held.do(hold)
    held.do(answer, "It is being built.")
    other = Replayed(fork(held.session, id="sess_2", seed="another"))
    assert len(held.session.turns) == 4
    told = other.session.turns[-1]
    assert isinstance(told, UserTurn)
    assert [(notice.call_id, notice.held) for notice in told.notices] == [("t2.0", True)]
    assert [one.state for one in other.session.held.values()] == ["in_doubt"]
    assert isinstance(next_action(other.session), AskModel)


def test_a_fork_has_one_event_and_no_parent() -> None:
    session = start_session(
        id="sess_1", seed="s", agent=start().agent, query="Hi", parent=Parent("run", "run_1", "call_p")
    )
    other = fork(session, id="sess_2", seed="t")
    assert (other.parent, other.position) == (None, 1)
    (line,) = other.fresh_events
    assert json.loads(line)["origin"] == "sess_1"
    again = fork(other, id="sess_3", seed="u")
    assert again.turns == session.turns


def test_a_session_begins_once() -> None:
    session = start()
    with pytest.raises(IllegalTransition, match="started once"):
        record(session, Started("Again.", ()))
