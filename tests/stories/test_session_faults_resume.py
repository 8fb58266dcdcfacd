"""Faults of section A: on resume an effect is lost or doubled.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address. Stops at which a process is killed at every single write are in `tests/wf_mcp/execution/sessions`.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.desk import SUMMARY, Desk, begin, calling, resume, start, tokens

pytestmark = pytest.mark.anyio

Office = Callable[..., Desk]

UNKNOWN = "Outcome unknown: the process that made this call is gone. It may have happened"


async def test_what_ran_beside_a_deferred_call_is_not_run_again(tmp_path: Path) -> None:
    """A1, https://github.com/langchain-ai/langgraph/pull/3126: one call that stops makes its turn run again."""
    desk = Desk(tmp_path, [calling("write", "mail", "far"), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        server.kill()
    async with desk.server() as server:
        await server.call("complete_call", token=tokens(waiting)["far"], result="from afar")
        told = await resume(server, waiting["session_id"])
    assert told["answer"] == "- write: write done\n- mail: mail done\n- far: from afar"
    assert desk.noted == ["write", "mail"]


async def test_answering_one_of_several_calls_repeats_nothing_and_the_others_keep_their_tokens(office: Office) -> None:
    """A2, https://github.com/langchain-ai/langgraph/issues/6208: the turn runs again when one of two is answered.

    A9, https://github.com/langchain-ai/langgraph/issues/5952: what was answered is asked again while another is open.
    """
    desk = office([calling("write", ("far", "1"), ("away", "2"), ("far", "3")), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        first, second, third = waiting["pending_calls"]
        await server.call("complete_call", token=second["token"], result="two")
        told = await resume(server, waiting["session_id"])
        assert (told["status"], told["pending_calls"]) == ("waiting", [first, third])
        listed = await server.call("list_pending", session_id=waiting["session_id"])
        assert [item["call"]["token"] for item in listed["pending"]] == [first["token"], third["token"]]
        await server.call("complete_call", token=third["token"], result="three")
        await server.call("complete_call", token=first["token"], result="one")
        told = await resume(server, waiting["session_id"])
    assert told["answer"] == "- write: write done\n- far: one\n- away: two\n- far: three"
    assert desk.noted == ["write"]


async def test_of_two_results_for_one_call_the_first_stays_and_the_second_is_told_so(office: Office) -> None:
    """A8, https://github.com/langchain-ai/langgraph/issues/6663: the second word is taken in silence."""
    desk = office([calling("far", "away"), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        far, away = tokens(waiting).values()
        await server.call("complete_call", token=far, result=1)
        assert list(tokens(await resume(server, waiting["session_id"]))) == ["away"]
        for late in ("complete_call", "fail_call"):
            word = {"result": 2} if late == "complete_call" else {"error": "No."}
            assert (await server.refuse(late, token=far, **word))["code"] == "call_already_completed"
        await server.call("complete_call", token=away, result="there")
        told = await resume(server, waiting["session_id"])
        assert (await server.refuse("complete_call", token=far, result=2))["code"] == "call_already_completed"
    assert told["answer"] == "- far: 1\n- away: there"


async def test_an_approval_holds_whatever_the_resume_comes_with(tmp_path: Path) -> None:
    """A10, https://github.com/openai/openai-agents-python/issues/4244: with a context given anew it is forgotten."""
    desk = Desk(tmp_path, [calling("ask"), SUMMARY, SUMMARY])
    async with desk.server() as server:
        plain, spoken = [await begin(server) for _ in range(2)]
        for waiting in (plain, spoken):
            desk.wf("session", "approve", tokens(waiting)["ask"])
        server.kill()
    desk.place.environment["WF_SOMETHING_ELSE"] = "1"
    async with desk.server() as server:
        answers = [
            (await resume(server, plain["session_id"]))["answer"],
            (await resume(server, spoken["session_id"], prompt="And hurry."))["answer"],
        ]
    assert answers == ["- ask: ask done"] * 2
    assert desk.noted == ["ask"] * 2


async def test_a_turn_of_every_kind_of_call_wants_results_only_for_those_that_wait(office: Office) -> None:
    """A17, https://github.com/pydantic/pydantic-ai/issues/6486: results that are there already are asked for again."""
    mixed = calling("write", "far", "apart", "breaks", "nowhere", "look")
    desk = office([mixed, SUMMARY], runner={"sandbox": "process"})
    async with desk.server() as server:
        waiting = await begin(server)
        assert list(tokens(waiting)) == ["far", "apart"]
        told = await server.call("run_isolated", session_id=waiting["session_id"], wait_seconds=40)
        assert list(tokens(told)) == ["far"]
        await server.call("complete_call", token=tokens(told)["far"], result="from afar")
        told = await resume(server, waiting["session_id"])
    lines = told["answer"].splitlines()
    assert lines[:2] == ["- write: write done", "- far: from afar"]
    assert "apart done" in lines[2]
    assert [line.split(":")[0] for line in lines[3:]] == ["- breaks", "- nowhere", "- look"]
    assert sorted(desk.noted) == ["apart", "breaks", "look", "write"]


async def test_what_waits_is_the_same_after_a_restart_and_only_an_approval_carries_it_out(tmp_path: Path) -> None:
    """A18, https://github.com/pydantic/pydantic-ai/pull/3355: whatever the user says next counts as an approval.

    A19, https://github.com/pydantic/pydantic-ai/pull/7818: a result is taken for a call that asks for an approval.
    A21, https://github.com/pydantic/pydantic-ai/issues/4830: what waits for an approval is lost when it is reloaded.
    """
    desk = Desk(tmp_path, [calling("ask", "far", "apart"), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        before = await server.call("list_pending")
        server.kill()
    async with desk.server() as server:
        assert await server.call("list_pending") == before
        told = await resume(server, waiting["session_id"], prompt="Yes, fine, go on.")
        assert (told["status"], told["pending_calls"]) == ("waiting", waiting["pending_calls"])
        forged = {"token": tokens(waiting)["ask"], "result": {"ok": 1}}
        assert (await server.refuse("complete_call", **forged))["code"] == "wrong_answer_kind"
        assert not [tool for tool in (await server.client.list_tools()).tools if "approve" in tool.name]
    result = str(desk.place.write("result.json", '{"ok": 1}'))
    refused = desk.wf("session", "complete", tokens(waiting)["ask"], result, status=2)
    assert refused["error"]["code"] == "wrong_answer_kind"
    assert "waits for the approval of a person" in " ".join(desk.place.log.split())
    assert desk.noted == []


async def test_a_call_that_was_running_at_the_kill_has_a_result_that_says_it_may_have_happened(tmp_path: Path) -> None:
    """A22, https://github.com/OpenHands/software-agent-sdk/issues/4487: its missing result breaks every later turn.

    A23, https://github.com/NousResearch/hermes-agent/pull/102238: it vanishes, and the model believes nothing happened.
    """
    desk = Desk(tmp_path, [calling("look", "holds", "write", "far"), {"text": "First:\n{{results}}"}, SUMMARY])
    async with desk.server() as server:
        session_id = await start(server)
        await server.call("resume_session", session_id=session_id, wait_seconds=0)
        await desk.until_noted(2)
        server.kill()
    async with desk.server() as server:
        told = await resume(server, session_id, prompt="Are you there?")
        assert [(call["name"], call["state"]) for call in told["pending_calls"]] == [
            ("holds", "in_doubt"),
            ("far", "deferred"),
        ]
        await server.call("complete_call", token=tokens(told)["far"], result="from afar")
        told = await resume(server, session_id)
        assert (told["status"], list(tokens(told))) == ("answered", ["holds"])
        assert told["answer"].startswith(f"First:\n- look: look done\n- holds: {UNKNOWN}")
        assert told["answer"].endswith("\n- write: write done\n- far: from afar")
        desk.wf("calls", "complete", tokens(told)["holds"], '"it did happen"')
        assert (await resume(server, session_id))["answer"] == "- holds: it did happen"
    assert desk.noted == ["look", "holds", "write"]
