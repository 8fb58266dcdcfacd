"""A history that a model may be shown, and every way in which one may not be."""

from dataclasses import replace
from typing import Any

import pytest

from tests.wf_core.conversations import call, start
from wf_core.calls.results import text_result
from wf_core.errors import BrokenHistory
from wf_core.sessions import (
    LlmTurn,
    Notice,
    PartialUserTurn,
    Turn,
    UserTurn,
    answer,
    begin,
    check_history,
    complete,
    hold,
)
from wf_core.sessions.history import check_turns


def history() -> list[Any]:
    """Give t0 user, t1 two calls, t2 results with a placeholder, t3 answer, t4 its notice."""
    session = start()
    answer(session, "", [call("write", "a"), call("build", "b")])
    begin(session, ["t2.0", "t2.1"])
    complete(session, "t2.0", text_result("done"))
    hold(session)
    answer(session, "Wait.")
    complete(session, "t2.1", text_result("built"))
    return session.turns


def test_what_transitions_make_is_well_formed() -> None:
    turns = history()
    check_history(turns)
    assert check_turns(turns) == {}
    assert check_turns(turns[:4]) == {"t2.1": False}


def test_a_notice_that_says_that_nobody_knows_leaves_its_promise_open() -> None:
    *turns, told = history()
    doubt = UserTurn("t4", notices=(replace(told.notices[0], held=True),))
    turns += [doubt, LlmTurn("t5", "Well.")]
    assert check_turns(turns) == {"t2.1": True}
    check_history([*turns, replace(told, id="t6")])
    with pytest.raises(BrokenHistory, match="again"):
        check_history([*turns, replace(doubt, id="t6")])
    with pytest.raises(BrokenHistory, match="nobody was promised"):
        check_history([*turns, replace(told, id="t6"), LlmTurn("t7", ""), replace(doubt, id="t8")])


def broken(index: int, turn: Turn) -> list[Turn]:
    turns = history()
    turns[index] = turn
    return turns


def cases() -> dict[str, list[Turn]]:
    first, asked, placed, said, told = history()
    results = placed.results
    return {
        "a result is missing": broken(2, replace(placed, results=results[:1])),
        "a result is there twice": broken(2, replace(placed, results=(*results, results[0]))),
        "results are in another order": broken(2, replace(placed, results=results[::-1])),
        "a result is another call's": broken(
            2, replace(placed, results=(results[0], replace(results[1], call_id="t2.0")))
        ),
        "a result has another id": broken(
            2, replace(placed, results=(replace(results[0], provider_call_id="x"), results[1]))
        ),
        "a result has no call": broken(4, replace(told, results=results[:1])),
        "a notice was promised by nobody": broken(
            4, replace(told, notices=(Notice("t2.0", "write", text_result("x")),))
        ),
        "a notice comes twice": broken(4, replace(told, notices=told.notices * 2)),
        "a notice comes with its placeholder": broken(2, replace(placed, notices=told.notices)),
        "a call has no id": broken(1, replace(asked, tool_calls=(call("write"), asked.tool_calls[1]))),
        "an id is used twice": broken(1, replace(asked, tool_calls=(asked.tool_calls[1],) * 2)),
        "a turn has another id": broken(0, replace(first, id="t1")),
        "the user speaks twice": [first, UserTurn("t1"), asked],
        "the model begins": [LlmTurn("t0", "Hi.")],
        "the model has the last word": [first, LlmTurn("t1", "Hi.")],
        "calls are not answered": [first, asked],
        "calls are open": [first, asked, PartialUserTurn("t2", [])],
        "a partial turn is inside": [first, asked, PartialUserTurn("t2", []), said, told],
        "there is nothing": [],
    }


@pytest.mark.parametrize("case", cases())
def test_a_broken_history_is_refused(case: str) -> None:
    with pytest.raises(BrokenHistory, match="turns"):
        check_history(cases()[case])
