"""After the process is gone: what may be repeated is, and what may have happened is in doubt."""

from tests.wf_core.conversations import Replayed, call, calls, start, states
from wf_core.calls.results import as_text, text_result
from wf_core.sessions import (
    Delivered,
    Recovered,
    Retried,
    Stop,
    UserTurn,
    answer,
    awaited,
    begin,
    check_history,
    complete,
    defer,
    hold,
    next_action,
    recover,
    release,
    say,
    token_of,
    wake_session,
)
from wf_core.sessions.settling import OUTCOME_UNKNOWN


def test_what_ran_is_ready_where_it_may_be_repeated_and_in_doubt_elsewhere() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("watch"), call("write"), call("remote"), call("write")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(defer, "t2.2")
    assert held.do(recover) == Recovered(("t2.0",), ("t2.1",))
    assert states(held.session) == ["ready", "in_doubt", "deferred", "ready"]
    assert calls(held.session)[1].continuation_token == token_of(held.session, "t2.1")
    assert awaited(calls(held.session)[1]) == "word"


def test_where_nothing_ran_nothing_happens() -> None:
    """What was not begun is known not to have happened."""
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    before = held.session.position
    assert held.do(recover) == Recovered()
    assert held.session.position == before


def test_held_calls_are_taken_over_too() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("watch")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    assert held.do(recover) == Recovered(("t2.1",), ("t2.0",))


def test_a_token_that_the_call_had_stays() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    held.do(defer, "t2.0", token="its_own")
    held.do(release, "t2.0")
    held.do(begin, ["t2.0"])
    held.do(recover)
    assert calls(held.session)[0].continuation_token == "its_own"


def in_the_background() -> Replayed:
    """Give a session whose model knows that a call runs."""
    held = Replayed(start())
    held.do(answer, "", [call("build")])
    held.do(begin, ["t2.0"])
    held.do(hold)
    held.do(answer, "It is being built.")
    return held


def notices(held: Replayed) -> list[tuple[str, bool]]:
    """Give what the last turn tells of earlier calls."""
    last = held.session.turns[-1]
    assert isinstance(last, UserTurn)
    return [(as_text(notice.result), notice.held) for notice in last.notices]


def test_a_model_that_was_told_that_a_call_runs_is_told_once_that_nobody_knows() -> None:
    held = in_the_background()
    held.do(recover)
    assert notices(held) == [(OUTCOME_UNKNOWN, True)]
    held.do(answer, "Ask the user.")
    assert next_action(held.session) == Stop("Ask the user.")
    held.do(wake_session, [(token_of(held.session, "t2.0"), Retried())])
    held.do(begin, ["t2.0"])
    held.do(recover)
    assert next_action(held.session) == Stop("Ask the user.")
    held.do(wake_session, [(token_of(held.session, "t2.0"), Delivered(text_result("built")))])
    assert notices(held) == [("built", False)]
    check_history(held.session.turns)


def test_it_is_told_with_the_results_of_the_calls_that_are_open() -> None:
    held = in_the_background()
    held.do(say, "And this.")
    held.do(answer, "", [call("write")])
    held.do(begin, ["t6.0"])
    held.do(recover)
    held.do(hold)
    assert notices(held) == [(OUTCOME_UNKNOWN, True)]


def test_a_word_that_comes_before_it_could_be_told_takes_its_place() -> None:
    held = in_the_background()
    held.do(say, "And this.")
    held.do(answer, "", [call("write")])
    held.do(recover)
    held.do(wake_session, [(token_of(held.session, "t2.0"), Delivered(text_result("built")))])
    held.do(complete, "t6.0", text_result("written"))
    assert notices(held) == [("built", False)]


def test_a_turn_that_has_no_answer_yet_tells_it() -> None:
    held = in_the_background()
    held.do(say, "Well?")
    held.do(recover)
    assert notices(held) == [(OUTCOME_UNKNOWN, True)]
    held.do(wake_session, [(token_of(held.session, "t2.0"), Delivered(text_result("built")))])
    held.do(say, "Now?", joins=True)
    assert notices(held) == [("built", False)]


def test_a_placeholder_that_nobody_was_shown_says_it_itself() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("watch")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    held.do(recover)
    last = held.session.turns[-1]
    assert isinstance(last, UserTurn)
    assert [as_text(placed.result) == OUTCOME_UNKNOWN for placed in last.results] == [True, False]
    assert [placed.held for placed in last.results] == [True, True]
    assert last.query is None
    assert notices(held) == []
    held.do(wake_session, [(token_of(held.session, "t2.0"), Delivered(text_result("built")))])
    held.do(begin, ["t2.1"])
    held.do(answer, "Hm.")
    assert notices(held) == [("built", False)]
