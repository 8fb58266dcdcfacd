"""Faults of section B: of several calls that wait, an answer comes to the wrong one.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.desk import SUMMARY, Desk, begin, calling, resume, tokens
from wf_artifacts.calls.models import Delivery
from wf_artifacts.errors import CallNotFound
from wf_mcp.app import App

pytestmark = pytest.mark.anyio

Office = Callable[..., Desk]

MANY = 20


async def test_equal_calls_of_one_turn_are_all_listed_and_each_has_a_token_of_its_own(office: Office) -> None:
    """B26, https://github.com/langchain-ai/langgraph/issues/6626: they share one id.

    B28, https://github.com/langchain-ai/langgraph/issues/6624: only the first of them is shown.
    """
    desk = office([calling(*[("far", "the same")] * MANY), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        session_id = waiting["session_id"]
        listed = (await server.call("list_pending", session_id=session_id, limit=100))["pending"]
        given = [call["token"] for call in waiting["pending_calls"]]
        assert [item["call"]["token"] for item in listed] == given
        assert len(set(given)) == MANY
        for number, token in reversed(list(enumerate(given))):
            await server.call("complete_call", token=token, result=f"result {number}")
        told = await resume(server, session_id)
    assert told["answer"].splitlines() == [f"- far: result {number}" for number in range(MANY)]


async def test_an_answer_that_names_no_call_is_refused_and_those_that_wait_are_named(office: Office) -> None:
    """B29, https://github.com/langchain-ai/langgraph/pull/6108: a bare value is taken by whichever call comes first."""
    desk = office([calling("far", "away"), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        session_id = waiting["session_id"]
        for tool, word in (
            ("complete_call", {"result": 1}),
            ("resume_session", {"result": 1, "session_id": session_id}),
        ):
            assert (await server.refuse(tool, **word))["code"] == "invalid_argument"
        assert (await server.refuse("complete_call", token=session_id, result=1))["code"] == "call_not_found"
        told = await resume(server, session_id)
    assert told["pending_calls"] == waiting["pending_calls"]
    assert all(any(token in action for action in told["next_actions"]) for token in tokens(told).values())


async def test_a_token_that_is_unknown_or_ended_has_its_error_and_changes_nothing(office: Office) -> None:
    """B30, https://github.com/langchain-ai/langgraph/issues/8836: answers to unknown ids are dropped in silence."""
    desk = office([calling("far", "away"), SUMMARY])
    async with desk.server() as server:
        one, other = await begin(server), await begin(server)
        far = tokens(one)["far"]
        await server.call("complete_call", token=far, result="of the first")
        await resume(server, one["session_id"])
        for unknown in (
            "",
            "call_",
            f"{far}0",
            far[:-1],
            far.lower(),
            "../x",
            "x\u0000y",
            "call_00000000000000000000000000",
        ):
            error = await server.refuse("complete_call", token=unknown, result=1)
            assert error["code"] in {"call_not_found", "invalid_argument"}, unknown
            assert other["session_id"] not in str(error)
        assert (await server.refuse("complete_call", token=far, result=1))["code"] == "call_already_completed"
        # What was delivered to the first session is no concern of the second, whose calls are the same.
        assert (await resume(server, other["session_id"]))["pending_calls"] == other["pending_calls"]


async def test_the_token_of_somebody_elses_session_is_unknown(tmp_path: Path) -> None:
    """B30, https://github.com/langchain-ai/langgraph/issues/8836: nothing is told of another's session."""
    desk = Desk(tmp_path, [calling("far"), SUMMARY])
    waiting = desk.wf("agent", "run", "helper", "--prompt", "Go.", status=3)
    async with App.open(home=desk.place.home, cwd=tmp_path) as app:
        given = {"kind": "result", "result": 1, "channel": "python", "principal": "mallory"}
        delivery = Delivery.model_validate({**given, "delivered_at": app.clock.now()})
        with pytest.raises(CallNotFound) as refused:
            await app.sessions.deliver(tokens(waiting)["far"], delivery, principal="mallory")
    assert waiting["session_id"] not in str(refused.value)


async def test_two_calls_after_each_other_get_each_their_own_answer(office: Office) -> None:
    """B31, https://github.com/langchain-ai/langgraph/issues/2870: the answer to the first is used for the next."""
    desk = office([calling("far"), calling("far"), SUMMARY])
    async with desk.server() as server:
        first = await begin(server)
        await server.call("complete_call", token=tokens(first)["far"], result="a")
        second = await resume(server, first["session_id"])
        assert tokens(second)["far"] != tokens(first)["far"]
        await server.call("complete_call", token=tokens(second)["far"], result="b")
        await resume(server, first["session_id"])
        turns = (await server.call("inspect_session", session_id=first["session_id"]))["conversation"]
    given = [result["result"]["content"] for turn in turns for result in turn["results"]]
    assert given == ["a", "b"]


async def test_a_call_that_is_answered_after_a_fork_is_open_in_the_fork(office: Office) -> None:
    """B32, https://github.com/langchain-ai/langgraph/pull/7115: the fork has the answer of the source."""
    desk = office([calling("write", "far"), SUMMARY])
    async with desk.server() as server:
        source = await begin(server)
        fork = desk.wf("session", "fork", source["session_id"])
        assert list(tokens(fork)) == ["far"]
        assert tokens(fork) != tokens(source)
        await server.call("complete_call", token=tokens(source)["far"], result="to the source")
        assert (await resume(server, source["session_id"]))["answer"].endswith("- far: to the source")
        told = await resume(server, fork["session_id"])
        assert (told["status"], tokens(told)) == ("waiting", tokens(fork))
        await server.call("complete_call", token=tokens(fork)["far"], result="to the fork")
        assert (await resume(server, fork["session_id"]))["answer"].endswith("- far: to the fork")
    assert desk.noted == ["write"]
