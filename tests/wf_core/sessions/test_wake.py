"""What is delivered is placed once, all of it or nothing, and what nobody waits for is said to be unused."""

import pytest

from tests.wf_core.anything import nested
from tests.wf_core.conversations import Replayed, call, calls, start, states
from wf_core.calls.results import JsonContent, ToolResult, as_text, json_result, text_result
from wf_core.errors import InvalidResult, WrongAnswerKind
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.sessions import (
    Approved,
    Delivered,
    LlmTurn,
    Notice,
    Retried,
    RunCalls,
    UserTurn,
    answer,
    begin,
    complete,
    defer,
    hold,
    next_action,
    recover,
    wake_session,
)

ONE, TWO = Delivered(text_result("one")), Delivered(text_result("two", error=True))


def deferred(*names: str) -> tuple[Replayed, list[str]]:
    held = Replayed(start())
    held.do(answer, "", [call(name) for name in names])
    return held, [held.do(defer, f"t2.{index}") for index in range(len(names))]


def test_results_in_any_order_make_the_turn() -> None:
    held, (first, second) = deferred("remote", "remote")
    assert held.do(wake_session, [(second, TWO), (first, ONE)]) == []
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert [as_text(placed.result) for placed in turn.results] == ["one", "two"]


def test_of_two_results_the_first_counts() -> None:
    held, (first, second) = deferred("remote", "remote")
    assert held.do(wake_session, [(first, ONE), ("call_x", ONE), (first, TWO)]) == ["call_x", first]
    assert held.do(wake_session, [(first, TWO)]) == [first]
    assert held.do(wake_session, [(second, TWO), (first, TWO)]) == [first]
    assert held.session.turns[-1].results[0].result == ONE.result  # type: ignore[union-attr]


def test_nothing_delivered_is_no_event() -> None:
    held, _ = deferred("remote")
    before = held.session.position
    assert held.do(wake_session, []) == []
    assert held.do(wake_session, [("call_x", ONE)]) == ["call_x"]
    assert held.session.position == before


def test_all_is_placed_or_nothing() -> None:
    held, (result, approval) = deferred("remote", "pay")
    with pytest.raises(WrongAnswerKind):
        held.do(wake_session, [(result, ONE), (approval, ONE)])
    with pytest.raises(InvalidResult):
        held.do(wake_session, [(approval, Approved()), (result, Delivered(ToolResult(JsonContent(float("nan")))))])
    assert states(held.session) == ["deferred", "deferred"]


def test_an_approved_call_is_carried_out_here_once() -> None:
    held, (token,) = deferred("pay")
    held.do(wake_session, [(token, Approved())])
    (one,) = calls(held.session)
    assert one.released
    assert next_action(held.session) == RunCalls((one,))
    assert held.do(wake_session, [(token, Approved())]) == [token]
    held.do(begin, ["t2.0"])
    assert held.do(wake_session, [(token, ONE)]) == [token]


def test_a_refused_call_has_failed() -> None:
    held, (token,) = deferred("pay")
    held.do(wake_session, [(token, TWO)])
    assert held.session.turns[-1].results[0].result == TWO.result  # type: ignore[union-attr]


def test_a_person_says_what_became_of_calls_in_doubt() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write"), call("write"), call("write")])
    held.do(begin, ["t2.0", "t2.1", "t2.2"])
    held.do(recover)
    tokens = [one.continuation_token or "" for one in calls(held.session)]
    held.do(wake_session, [(tokens[0], ONE), (tokens[1], TWO), (tokens[2], Retried())])
    assert states(held.session) == ["completed", "failed", "ready"]


def test_a_late_result_of_a_held_call_is_a_notice_at_once_when_the_model_has_answered() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    held.do(begin, ["t2.0"])
    held.do(recover)
    token = calls(held.session)[0].continuation_token or ""
    held.do(hold)
    held.do(answer, "I do not know.")
    held.do(wake_session, [(token, ONE)])
    assert held.session.turns[-1] == UserTurn("t4", notices=(Notice("t2.0", "write", ONE.result),))


def test_notices_that_come_while_the_model_is_asked_follow_its_answer() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build"), call("build")])
    held.do(begin, ["t2.0", "t2.1"])
    held.do(hold)
    held.do(complete, "t2.1", ONE.result)
    held.do(complete, "t2.0", TWO.result)
    assert held.session.turns[-1].notices == ()  # type: ignore[union-attr]
    held.do(answer, "Well.")
    assert held.session.turns[-2] == LlmTurn("t3", "Well.")
    assert held.session.turns[-1] == UserTurn(
        "t4", notices=(Notice("t2.1", "build", ONE.result), Notice("t2.0", "build", TWO.result))
    )


def test_notices_join_the_next_results() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build")])
    held.do(begin, ["t2.0"])
    held.do(hold)
    held.do(answer, "", [call("write")])
    held.do(complete, "t2.0", ONE.result)
    held.do(begin, ["t4.0"])
    held.do(complete, "t4.0", TWO.result)
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert (len(turn.results), turn.notices) == (1, (Notice("t2.0", "build", ONE.result),))


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
def test_a_delivery_is_taken_as_deep_as_a_value_may_be_and_a_deeper_one_changes_nothing(levels: int) -> None:
    held, (token,) = deferred("remote")
    given = [(token, Delivered(json_result(nested(levels))))]
    if levels <= MAX_DEPTH:
        assert held.do(wake_session, given) == []
    else:
        with pytest.raises(InvalidResult):
            held.do(wake_session, given)
