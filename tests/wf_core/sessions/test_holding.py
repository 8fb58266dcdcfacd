"""A model that is asked although calls have not ended is told so once, and what became of them once."""

import pytest

from tests.wf_core.conversations import Replayed, call, start
from wf_core.calls.results import as_text, text_result
from wf_core.errors import IllegalTransition
from wf_core.sessions import UserTurn, answer, begin, check_history, complete, defer, hold, recover, say


def test_a_placeholder_says_why_there_is_no_result() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write", "a"), call("build", "b"), call("count", "c", text="x")])
    held.do(begin, ["t2.0"])
    held.do(recover)
    held.do(begin, ["t2.1"])
    held.do(complete, "t2.2", text_result("1"))
    held.do(say, "How is it?")
    held.do(hold)
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert turn.query == "How is it?"
    assert [placed.held for placed in turn.results] == [True, True, False]
    doubtful, running, ended = (as_text(placed.result) for placed in turn.results)
    assert "may have happened; do not repeat it without asking the user" in doubtful
    assert "still running" in running
    assert ended == "1"
    assert list(held.session.held) == ["t2.0", "t2.1"]
    check_history(held.session.turns)


@pytest.mark.parametrize("put_off", [True, False])
def test_what_is_ready_or_deferred_keeps_the_model_waiting(put_off: bool) -> None:
    held = Replayed(start())
    held.do(answer, "", [call("remote"), call("build")])
    held.do(begin, ["t2.1"])
    if put_off:
        held.do(defer, "t2.0")
    with pytest.raises(IllegalTransition):
        held.do(hold)


def test_there_must_be_a_partial_turn() -> None:
    held = Replayed(start())
    with pytest.raises(IllegalTransition):
        held.do(hold)
    held.do(answer, "Done.")
    with pytest.raises(IllegalTransition):
        held.do(hold)


def test_a_result_takes_the_place_of_a_placeholder_that_nobody_was_shown() -> None:
    """Words that join a turn say that no model saw it: it would be told of running and of having ended at once."""
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("build")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    held.do(complete, "t2.0", text_result("built"))
    held.do(say, "And?", joins=True)
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert turn.notices == ()
    assert [placed.held for placed in turn.results] == [False, True]
    assert as_text(turn.results[0].result) == "built"
    held.do(complete, "t2.1", text_result("built too"))
    held.do(answer, "Both.")
    assert [notice.call_id for notice in held.session.turns[-1].notices] == ["t2.1"]  # type: ignore[union-attr]
