"""What is to be done next: running before asking, asking before waiting, waiting before stopping."""

from tests.wf_core.conversations import Replayed, call, calls, start
from wf_core.calls.results import text_result
from wf_core.sessions import (
    AskModel,
    Delivered,
    Retried,
    RunCalls,
    Stop,
    Wait,
    answer,
    begin,
    complete,
    defer,
    hold,
    next_action,
    recover,
    token_of,
    wake_session,
)


def test_the_model_is_asked_with_the_session_itself() -> None:
    """Its cost does not grow with the history."""
    session = start()
    action = next_action(session)
    assert isinstance(action, AskModel)
    assert action.session is session


def test_every_ready_call_is_to_be_run_in_call_order() -> None:
    session = start()
    answer(session, "", [call("write"), call("nothing"), call("remote"), call("build")])
    first, _, third, fourth = calls(session)
    assert next_action(session) == RunCalls((first, third, fourth))
    begin(session, [first.id])
    assert next_action(session) == RunCalls((third, fourth))


def test_a_wait_names_tokens_and_what_runs() -> None:
    session = start()
    answer(session, "", [call("write"), call("remote"), call("build")])
    begin(session, ["t2.0"])
    recover(session)
    token = defer(session, "t2.1")
    begin(session, ["t2.2"])
    doubtful = calls(session)[0].continuation_token
    assert doubtful is not None
    assert next_action(session) == Wait((token, doubtful), ("t2.2",), holdable=False)


def test_a_held_call_that_is_ready_again_is_run_before_the_model_is_asked() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("watch")])
    held.do(begin, ["t2.0"])
    held.do(hold)
    held.do(recover)
    again = held.session.held["t2.0"]
    assert next_action(held.session) == RunCalls((again,))
    held.do(begin, ["t2.0"])
    assert isinstance(next_action(held.session), AskModel)


def test_an_answer_is_not_final_while_a_held_call_runs() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("build")])
    held.do(begin, ["t2.0"])
    held.do(hold)
    held.do(answer, "It is being built.")
    assert next_action(held.session) == Wait((), ("t2.0",), holdable=False)
    held.do(complete, "t2.0", text_result("built"))
    assert isinstance(next_action(held.session), AskModel)
    held.do(answer, "It is built.")
    assert next_action(held.session) == Stop("It is built.")


def test_a_call_in_doubt_of_which_the_model_was_told_keeps_no_answer_back() -> None:
    """Nobody may ever say what became of it."""
    held = Replayed(start())
    held.do(answer, "", [call("write")])
    held.do(begin, ["t2.0"])
    held.do(recover)
    assert isinstance(next_action(held.session), Wait)
    held.do(hold)
    held.do(answer, "It may have been written.")
    assert next_action(held.session) == Stop("It may have been written.")
    held.do(wake_session, [(token_of(held.session, "t2.0"), Delivered(text_result("it was")))])
    assert isinstance(next_action(held.session), AskModel)
    held.do(answer, "It was written.")
    assert next_action(held.session) == Stop("It was written.")


def test_an_answer_waits_while_a_call_runs_beside_one_in_doubt() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("write"), call("build")])
    held.do(begin, ["t2.0"])
    held.do(recover)
    held.do(begin, ["t2.1"])
    held.do(hold)
    held.do(answer, "Let us see.")
    token = token_of(held.session, "t2.0")
    assert next_action(held.session) == Wait((token,), ("t2.1",), holdable=False)
    held.do(complete, "t2.1", text_result("built"))
    held.do(answer, "Built.")
    assert next_action(held.session) == Stop("Built.")
    held.do(wake_session, [(token, Retried())])
    assert next_action(held.session) == RunCalls((held.session.held["t2.0"],))
    held.do(begin, ["t2.0"])
    assert next_action(held.session) == Wait((), ("t2.0",), holdable=False)
