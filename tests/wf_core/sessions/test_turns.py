"""What the user says and what the model answers: turns and ids."""

import pytest

from tests.wf_core.conversations import SEED, Replayed, agent, call, calls, start
from wf_core.calls.policy import (
    Defer,
    RunAsync,
    RunSync,
)
from wf_core.calls.results import text_result
from wf_core.errors import IllegalTransition, InvalidPolicy, MaxTurnsReached
from wf_core.sessions import (
    Attachment,
    CallerPolicy,
    LlmTurn,
    PartialUserTurn,
    RunCalls,
    Stop,
    Usage,
    UserTurn,
    answer,
    begin,
    complete,
    next_action,
    say,
)
from wf_core.sessions import start as start_session

PICTURE = Attachment("image/png", "AAAA", "chart.png")


def test_a_session_starts_with_what_the_user_says() -> None:
    session = start("Hello")
    assert session.turns == [UserTurn("t0", "Hello")]
    assert session.position == 1


def test_a_policy_that_cannot_be_read_starts_nothing() -> None:
    with pytest.raises(InvalidPolicy, match=r"toolCallPolicyConfig.rules\[0\].tool"):
        start(policy={"rules": [{"tool": "", "disposition": {"tag": "runSync"}}]})


def test_a_callers_policy_that_cannot_be_read_starts_nothing() -> None:
    boss = CallerPolicy("boss", {"default": {"tag": "melt"}})
    with pytest.raises(InvalidPolicy):
        start_session(id="sess_1", seed=SEED, agent=agent(), query="Go.", callers=[boss])


def test_an_answer_without_calls_is_the_end() -> None:
    held = Replayed(start())
    held.do(answer, "Three.", (), Usage(10, 2))
    assert held.session.turns[-1] == LlmTurn("t1", "Three.", (), Usage(10, 2))
    assert next_action(held.session) == Stop("Three.")


def test_calls_have_ids_by_their_place_and_the_policy_that_was_applied() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("count", "a", text="x"), call("remote", "b"), call("build", "c")])
    first, second, third = calls(held.session)
    assert [one.id for one in (first, second, third)] == ["t2.0", "t2.1", "t2.2"]
    assert (first.policy.disposition, first.policy.rule) == (RunSync(), "default")
    assert (second.policy.disposition, second.policy.rule) == (Defer("external worker"), "remote")
    assert (third.policy.disposition, third.policy.rule) == (RunAsync(), "build")
    assert next_action(held.session) == RunCalls((first, second, third))


def test_provider_ids_that_are_empty_or_not_new_are_replaced() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write", "x"), call("write", "x"), call("write"), call("write", "call_t2_1")])
    assert [one.provider_call_id for one in calls(held.session)] == ["x", "call_t2_1", "call_t2_2", "call_t2_3"]
    for one in list(calls(held.session)):
        held.do(begin, [one.id])
        held.do(complete, one.id, text_result("done"))
    held.do(answer, "", [call("write", "x"), call("write", "call_t4_0")])
    assert [one.provider_call_id for one in calls(held.session)] == ["call_t4_0", "call_t4_1"]


def test_only_what_was_asked_is_answered() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    with pytest.raises(IllegalTransition):
        held.do(answer, "Again.")
    held.do(begin, ["t2.0"])
    held.do(complete, "t2.0", text_result("done"))
    held.do(answer, "Done.")
    with pytest.raises(IllegalTransition):
        held.do(answer, "Again.")


def test_text_that_is_no_text_is_stored_all_the_same() -> None:
    held = Replayed(start("a\ud800b"))
    held.do(answer, "c\udfffd", (), Usage(-1, 3))
    assert held.session.turns == [UserTurn("t0", "a?b"), LlmTurn("t1", "c?d", (), Usage(0, 3))]


def test_words_after_an_answer_are_a_turn() -> None:
    held = Replayed(start())
    held.do(answer, "Three.")
    held.do(say, "And now?", [PICTURE])
    assert held.session.turns[-1] == UserTurn("t2", "And now?", attachments=(PICTURE,))


def test_words_while_calls_are_open_join_the_results() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write", "a")])
    held.do(say, "Quick!", [PICTURE])
    held.do(say, "Please.")
    held.do(begin, ["t2.0"])
    held.do(complete, "t2.0", text_result("done"))
    turn = held.session.turns[-1]
    assert isinstance(turn, UserTurn)
    assert (turn.query, turn.attachments, len(turn.results)) == ("Quick!\n\nPlease.", (PICTURE,), 1)
    assert held.session.queries == []
    assert held.session.attachments == []


def test_words_while_the_model_may_be_asked_come_after_its_answer() -> None:
    """Otherwise an answer under way would seem to answer what it never saw."""
    held = Replayed(start("One."))
    held.do(say, "Two.")
    assert held.session.turns == [UserTurn("t0", "One.")]
    held.do(answer, "Yes?")
    assert held.session.turns[-1] == UserTurn("t2", "Two.")


def test_words_join_a_turn_that_nobody_is_asked_about() -> None:
    held = Replayed(start(None))
    held.do(say, "One.", joins=True)
    held.do(say, "Two.", [PICTURE])
    held.do(say, "Three.", joins=True)
    assert held.session.turns == [UserTurn("t0", "One.\n\nTwo.\n\nThree.", attachments=(PICTURE,))]


def test_joining_means_nothing_where_there_is_no_such_turn() -> None:
    held = Replayed(start())
    held.do(answer, "Three.")
    held.do(say, "And?", joins=True)
    assert held.session.turns[-1] == UserTurn("t2", "And?")


def test_a_model_is_asked_as_often_as_the_agent_allows_since_the_user_spoke() -> None:
    held = Replayed(start("Go.", max_turns=2))
    for turn in ("t2", "t4"):
        held.do(answer, "", [call("write")])
        held.do(begin, [f"{turn}.0"])
        held.do(complete, f"{turn}.0", text_result("done"))
    stop = next_action(held.session)
    assert isinstance(stop, Stop)
    assert stop.answer is None
    assert stop.error is not None
    assert stop.error.code == "max_turns"
    with pytest.raises(MaxTurnsReached):
        held.do(answer, "More.")
    held.do(say, "Go on.")
    last = held.session.turns[-1]
    assert isinstance(last, UserTurn)
    assert (last.id, last.query, len(last.results)) == ("t4", "Go on.", 1)
    held.do(answer, "Done.")
    assert next_action(held.session) == Stop("Done.")


def test_an_answer_with_calls_is_followed_by_its_partial_turn() -> None:
    session = start()
    answer(session, "", [call("write")])
    assert isinstance(session.turns[-2], LlmTurn)
    assert isinstance(session.turns[-1], PartialUserTurn)
