"""What becomes of calls: results in call order, and refusals that change nothing."""

from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_core.conversations import Replayed, call, calls, start, states
from wf_core.calls.results import JsonContent, ToolResult, as_text, json_result, text_result
from wf_core.errors import (
    CallAlreadyCompleted,
    IllegalTransition,
    InvalidResult,
    UnknownCall,
    WrongAnswerKind,
)
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.sessions import (
    PlacedResult,
    Session,
    UserTurn,
    answer,
    begin,
    complete,
    defer,
    doubt,
    expire,
    release,
    say,
    token_of,
)


def results(session: Session) -> tuple[PlacedResult, ...]:
    last = session.turns[-1]
    assert isinstance(last, UserTurn)
    return last.results


def opened(*names: str) -> Replayed:
    """Give a session whose model asked for these calls."""
    held = Replayed(start())
    held.do(answer, "", [call(name) for name in names])
    return held


def test_results_are_placed_in_call_order_whatever_ends_first() -> None:
    held = opened("write", "write", "write")
    held.do(begin, ["t2.0", "t2.1", "t2.2"])
    for index in (2, 0, 1):
        held.do(complete, f"t2.{index}", text_result(str(index), error=index == 1))
    assert [as_text(placed.result) for placed in results(held.session)] == ["0", "1", "2"]
    assert [placed.result.error for placed in results(held.session)] == [False, True, False]
    assert [placed.held for placed in results(held.session)] == [False] * 3


def test_all_begin_or_none() -> None:
    held = opened("write", "write")
    held.do(begin, ["t2.1"])
    with pytest.raises(IllegalTransition, match=r"t2\.1 of write is running"):
        held.do(begin, ["t2.0", "t2.1"])
    assert states(held.session) == ["ready", "running"]


@pytest.mark.parametrize("ids", [[], ["t2.0", "t2.0"]])
def test_a_call_begins_once(ids: list[str]) -> None:
    with pytest.raises(IllegalTransition):
        opened("write").do(begin, ids)


def test_a_cached_result_ends_a_ready_and_a_deferred_call() -> None:
    held = opened("write", "remote")
    held.do(complete, "t2.0", text_result("cached"))
    held.do(defer, "t2.1")
    held.do(complete, "t2.1", text_result("cached too"))
    assert [as_text(placed.result) for placed in results(held.session)] == ["cached", "cached too"]


def test_a_failed_result_fails_a_call_that_ran() -> None:
    held = opened("write", "write")
    held.do(begin, ["t2.0"])
    held.do(complete, "t2.0", text_result("no", error=True))
    held.do(complete, "t2.1", text_result("never ran", error=True))
    assert held.session.turns[-1].results[1].result.error  # type: ignore[union-attr]


def test_what_was_told_first_stays() -> None:
    held = opened("write", "write")
    held.do(begin, ["t2.0", "t2.1"])
    held.do(complete, "t2.0", text_result("first"))
    with pytest.raises(CallAlreadyCompleted):
        held.do(complete, "t2.0", text_result("second"))
    held.do(complete, "t2.1", text_result("other"))
    with pytest.raises(CallAlreadyCompleted):
        held.do(complete, "t2.0", text_result("third"))
    assert as_text(results(held.session)[0].result) == "first"


@pytest.mark.parametrize("content", [float("nan"), {1: 2}, {1, 2}, "\ud800"])
def test_what_is_no_json_is_no_result(content: Any) -> None:
    held = opened("write")
    held.do(begin, ["t2.0"])
    with pytest.raises(InvalidResult, match="result"):
        held.do(complete, "t2.0", ToolResult(JsonContent(content)))
    held.do(complete, "t2.0", json_result(10**30))


def test_a_deferred_call_has_the_token_of_its_id_or_the_one_it_was_given() -> None:
    held = opened("remote", "remote")
    assert held.do(defer, "t2.0", reason="external\ud800") == token_of(held.session, "t2.0")
    assert held.do(defer, "t2.1", token="call_of_a_child") == "call_of_a_child"
    first, second = calls(held.session)
    assert (first.reason, second.reason) == ("external?", None)
    assert second.continuation_token == "call_of_a_child"


def test_a_token_answers_one_call() -> None:
    held = opened("remote", "remote")
    held.do(defer, "t2.0", token="mine")
    for token in ("mine", "", token_of(held.session, "t2.0")):
        with pytest.raises(IllegalTransition, match="token"):
            held.do(defer, "t2.1", token=token)


def test_only_a_ready_call_is_deferred() -> None:
    held = opened("build")
    held.do(begin, ["t2.0"])
    with pytest.raises(IllegalTransition):
        held.do(defer, "t2.0")


def test_a_released_call_is_carried_out_here() -> None:
    held = opened("bash")
    held.do(defer, "t2.0")
    held.do(release, "t2.0")
    assert (states(held.session), calls(held.session)[0].released) == (["ready"], True)
    held.do(begin, ["t2.0"])
    with pytest.raises(IllegalTransition):
        held.do(release, "t2.0")


def test_a_deferred_call_whose_callee_is_gone_is_in_doubt_and_keeps_its_token() -> None:
    held = opened("write")
    with pytest.raises(IllegalTransition):
        held.do(doubt, "t2.0", "gone")
    token = held.do(defer, "t2.0")
    held.do(doubt, "t2.0", "gone")
    (one,) = calls(held.session)
    assert (one.state, one.reason, one.continuation_token) == ("in_doubt", "gone", token)
    held.do(complete, "t2.0", text_result("found"))
    with pytest.raises(CallAlreadyCompleted):
        held.do(doubt, "t2.0", "gone")


def test_what_runs_has_no_callee_to_lose() -> None:
    held = opened("write")
    held.do(begin, ["t2.0"])
    with pytest.raises(IllegalTransition, match="only a deferred one"):
        held.do(doubt, "t2.0", "gone")


def test_a_call_that_nobody_answers_expires_with_a_result_that_says_so() -> None:
    held = opened("remote", "write")
    with pytest.raises(IllegalTransition):
        held.do(expire, "t2.0")
    held.do(defer, "t2.0")
    held.do(expire, "t2.0")
    assert states(held.session) == ["expired", "ready"]
    with pytest.raises(CallAlreadyCompleted, match="expired"):
        held.do(complete, "t2.0", text_result("late"))
    held.do(complete, "t2.1", text_result("done"))
    assert results(held.session)[0].result == text_result(
        "Nobody answered this call in time; it was given up.", error=True
    )


def test_a_cache_does_not_answer_for_a_person() -> None:
    held = opened("pay")
    held.do(defer, "t2.0")
    with pytest.raises(WrongAnswerKind):
        held.do(complete, "t2.0", text_result("paid"))
    held.do(complete, "t2.0", text_result("refused", error=True))


@pytest.mark.parametrize(
    "wrong", ["t2.1", "t1.0", "t3.0", "t2.00", "t2", "", "t2.0.0", "t².0", "t2.999999999999999999999"]
)
def test_a_call_that_there_is_not_is_not_found(wrong: str) -> None:
    held = opened("write")
    for transition in (release, expire, defer):
        with pytest.raises(UnknownCall):
            held.do(transition, wrong)


def test_words_alone_end_nothing() -> None:
    held = opened("write")
    held.do(say, "Hello?")
    assert states(held.session) == ["ready"]


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
def test_a_result_is_taken_as_deep_as_a_value_may_be_and_a_deeper_one_changes_nothing(levels: int) -> None:
    held = opened("remote")
    held.do(begin, ["t2.0"])
    result = json_result(nested(levels))
    if levels <= MAX_DEPTH:
        held.do(complete, "t2.0", result)
        assert results(held.session)[0].result == result
    else:
        with pytest.raises(InvalidResult, match=f"deeper than {MAX_DEPTH} levels"):
            held.do(complete, "t2.0", result)
