"""What becomes of a call that the model asks for: policies, and calls that cannot be made."""

from typing import Any

import pytest

from tests.wf_core.conversations import SEED, Replayed, agent, call, calls, start, tool
from wf_core.calls.policy import (
    AppliedPolicy,
    Decorate,
    Defer,
    PolicyContext,
    RunSync,
    ToolCall,
    WithLabel,
    WithTimeout,
    default_call_policy,
)
from wf_core.calls.policy_data import PolicyConfig
from wf_core.calls.results import as_text
from wf_core.errors import InvalidPolicy
from wf_core.sessions import CallerPolicy, LlmTurn, Session, UserTurn, answer
from wf_core.sessions import start as start_session

APPROVED: dict[str, Any] = {"tag": "defer", "reason": "ask me", "approval": True}


def errors(session: Session) -> list[str]:
    last = session.turns[-1]
    assert isinstance(last, UserTurn)
    assert all(placed.result.error for placed in last.results)
    return [as_text(placed.result) for placed in last.results]


def called(*callers: CallerPolicy, policy: dict[str, Any] | None = None) -> Session:
    """Start a session that agents with these policies called."""
    return start_session(id="sess_1", seed=SEED, agent=agent(policy=policy or {}), query="Go.", callers=callers)


def test_a_call_by_its_capability_is_a_call_of_the_tool() -> None:
    session = start()
    answer(session, "", [call("ops.write", "a")])
    assert calls(session)[0].name == "ops.write"
    turn = session.turns[-2]
    assert isinstance(turn, LlmTurn)
    assert turn.tool_calls[0].capability == "ops.write"


def test_an_unknown_tool_is_answered_with_what_there_is() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("cuont", "a"), call("\ud800", "b"), call("", "c")])
    close, odd, empty = errors(held.session)
    assert close == 'There is no tool "cuont". Did you mean count?'
    assert odd.startswith('There is no tool "?". There are: count, write')
    assert empty.startswith('There is no tool "". There are: count, write')
    assert [placed.provider_call_id for placed in held.session.turns[-1].results] == ["a", "b", "c"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "stored", "said"),
    [
        ('{"text": ', '{"text": ', "The arguments are a text, not a JSON object."),
        ([1], [1], "The arguments are an array, not a JSON object."),
        (None, None, "The arguments are null, not a JSON object."),
        ({"text": float("nan")}, '{"text": NaN}', "The arguments are no JSON: arguments.text: NaN."),
        ({"text": "\ud800"}, '{"text": "\\ud800"}', "The arguments are no JSON: arguments.text: text with a lone"),
        ("\ud800", "?", "The arguments are no JSON"),
        ({"text": {1, 2}}, "(dict)", "The arguments are no JSON"),
        ({"words": 1}, {"words": 1}, "The arguments do not fit count: "),
        ({"text": 1}, {"text": 1}, "The arguments do not fit count: arguments.text: "),
    ],
)
def test_arguments_that_do_not_fit_are_answered_at_once(arguments: Any, stored: Any, said: str) -> None:
    """A call is well-formed in the history whatever the model wrote."""
    held = Replayed(start())
    held.do(answer, "", [ToolCall("count", arguments, "a")])
    assert errors(held.session)[0].startswith(said)
    turn = held.session.turns[-2]
    assert isinstance(turn, LlmTurn)
    assert turn.tool_calls[0].arguments == stored


def test_a_schema_that_cannot_be_used_refuses_nothing() -> None:
    session = start(tools=(tool("odd", schema={"type": 7}),))
    answer(session, "", [call("odd", "a", x=1)])
    assert calls(session)[0].state == "ready"


def test_a_call_that_cannot_be_made_leaves_the_others_to_be_made() -> None:
    held = Replayed(start())
    held.do(answer, "", [call("nothing", "a"), call("write", "b")])
    assert [one.state for one in calls(held.session)] == ["completed", "ready"]
    assert calls(held.session)[0].policy.rule == "none"


def test_a_synchronous_agent_runs_in_the_foreground_and_defers_all_the_same() -> None:
    session = start(execution_mode="synchronous")
    answer(session, "", [call("build", "a"), call("remote", "b")])
    assert [one.policy.disposition for one in calls(session)] == [RunSync(), Defer("external worker")]
    assert calls(session)[0].policy.rule == "build"


def test_a_synchronous_agent_keeps_the_decorations() -> None:
    inner = {"tag": "decorate", "decorators": [{"tag": "withTimeout", "seconds": 3}], "inner": {"tag": "runAsync"}}
    session = start(
        execution_mode="synchronous",
        policy={"default": {"tag": "decorate", "decorators": [{"tag": "withLabel", "text": "slow"}], "inner": inner}},
    )
    answer(session, "", [call("build", "a")])
    assert calls(session)[0].policy.disposition == Decorate((WithLabel("slow"), WithTimeout(3)), RunSync())


def test_a_policy_in_python_decides_with_what_can_be_written_down() -> None:
    seen: list[tuple[PolicyContext, ToolCall]] = []

    def cautious(context: PolicyContext, called: ToolCall) -> Defer:
        seen.append((context, called))
        return Defer("ask first", approval=True)

    held = Replayed(start())
    held.do(answer, "", [call("count", text="a"), call("nothing")], policy=cautious)
    ((context, called),) = seen
    assert (context.session_id, context.turn_id, context.call_stack) == ("sess_1", "t2", ("helper",))
    assert context.allowed_tools == ("count", "write", "remote", "pay", "bash", "build", "watch")
    assert (called.capability, called.provider_call_id) == ("ops.count", "call_t2_0")
    assert calls(held.session)[0].policy.rule == "cautious"


def test_a_policy_that_decides_nonsense_changes_nothing() -> None:
    def broken(context: PolicyContext, called: ToolCall) -> Any:
        return "run it"

    held = Replayed(start())
    with pytest.raises(InvalidPolicy, match="str is none"):
        held.do(answer, "", [call("write")], policy=broken)


def test_a_policy_as_data_may_be_handed_over() -> None:
    session = start()
    answer(session, "", [call("write")], policy=PolicyConfig(Defer("no")))
    assert calls(session)[0].policy.rule == "default"


@pytest.mark.parametrize("named", ["pay", "ops.pay", "ops.*", "pay_out"])
def test_the_policy_of_whoever_called_an_agent_holds_for_it_too_by_each_name_of_a_tool(named: str) -> None:
    boss = CallerPolicy("boss", {"rules": [{"tool": named, "disposition": APPROVED}]}, {"ops.pay": "pay_out"})
    held = Replayed(called(CallerPolicy("between", {"default": {"tag": "runAsync"}}), boss))
    held.do(answer, "", [call("pay")])
    (paid,) = calls(held.session)
    assert paid.policy == AppliedPolicy(Defer("ask me", approval=True), f"{named} of boss")


def test_the_name_of_a_callers_tool_is_not_another_tools() -> None:
    boss = CallerPolicy("boss", {"rules": [{"tool": "pay_out", "disposition": APPROVED}]}, {"ops.pay": "pay_out"})
    held = Replayed(called(boss))
    held.do(answer, "", [call("write")])
    assert [one.policy.disposition for one in calls(held.session)] == [RunSync()]


def test_a_call_whose_policies_demand_different_things_is_not_made_and_the_model_is_told() -> None:
    boss = CallerPolicy("boss", {"rules": [{"tool": "pay", "disposition": APPROVED}]})
    own = {"rules": [{"tool": "pay", "disposition": {"tag": "runIsolated"}}]}
    held = Replayed(called(boss, policy=own))
    held.do(answer, "", [call("pay")])
    assert "by those of its callers (boss) does not go together" in errors(held.session)[0]


def test_a_policy_in_python_does_not_let_go_what_a_caller_holds() -> None:
    held = Replayed(called(CallerPolicy("boss", {"default": APPROVED})))
    held.do(answer, "", [call("pay")], policy=default_call_policy)
    assert [one.policy.rule for one in calls(held.session)] == ["default of boss"]
