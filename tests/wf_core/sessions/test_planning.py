"""What is to be done next: running before asking, asking before waiting, waiting before stopping."""

from tests.wf_core.conversations import Replayed, call, calls, start
from wf_core.calls.results import text_result
from wf_core.sessions import (
    AskModel,
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


def test_an_answer_is_final_when_nothing_is_held() -> None:
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
