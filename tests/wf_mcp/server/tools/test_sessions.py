"""The tools for agent sessions, through a client of either era."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.desk import APPROVE, CONFIG, ISOLATE, asks, desk
from tests.wf_mcp.server.connected import Connected, Era, connected
from wf_core.jsonvalue import size
from wf_mcp.server.bounds import MOST_BYTES

pytestmark = pytest.mark.anyio


def tokens(told: dict[str, Any]) -> dict[str, str]:
    return {call["name"]: call["token"] for call in told["pending_calls"]}


async def waiting(server: Connected) -> dict[str, Any]:
    started = await server.call("start_session", agent="helper", prompt="Go.")
    return await server.call("resume_session", session_id=started["session_id"])


async def answered(server: Connected, session_id: str) -> dict[str, Any]:
    """Wait until the server itself has gone on to the end."""
    with anyio.fail_after(20):
        while True:
            seen = await server.call("inspect_session", session_id=session_id, wait_seconds=10)
            if seen["status"] == "answered":
                return seen
            await anyio.sleep(0.02)


async def test_a_session_is_started_stepped_answered_from_outside_and_ends(tmp_path: Path, era: Era) -> None:
    work = desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        started = await server.call("start_session", agent="helper", prompt="Go.")
        session_id = started["session_id"]
        assert (started["status"], started["turns"]) == ("ready", 1)
        asked = await server.call("step_session", session_id=session_id)
        assert (asked["status"], asked["turns"], work.made) == ("ready", 3, [])
        told = await server.call("pause_session", session_id=session_id)
        assert (told["status"], work.made) == ("waiting", ["local"])
        for name in ("remote_b", "remote_a"):
            left = await server.call(
                "complete_call", token=tokens(told)[name], result={"type": "text", "content": name}
            )
        assert left["pending_calls"] == []
        ended = await server.call("resume_session", session_id=session_id)
        assert ended["answer"] == "Done:\n- local: here: bread\n- remote_a: remote_a\n- remote_b: remote_b"
        [row] = (await server.call("list_sessions", status="answered"))["sessions"]
        shown = await server.call("inspect_session", session_id=session_id, turns=1)
    assert (row["session_id"], row["turns"], row["pending"]) == (session_id, 4, 0)
    assert [turn["by"] for turn in shown["conversation"]] == ["model"]
    assert work.made == ["local"]


async def test_a_resumed_session_goes_on_by_itself_when_the_last_result_comes(tmp_path: Path, era: Era) -> None:
    desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        told = await waiting(server)
        for name, token in tokens(told).items():
            await server.call("complete_call", token=token, result=name)
        assert "remote_b: remote_b" in (await answered(server, told["session_id"]))["answer"]


async def test_start_may_take_the_first_step(tmp_path: Path, era: Era) -> None:
    desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        told = await server.call("start_session", agent="helper", prompt="Go.", step=True)
    assert (told["status"], told["turns"]) == ("ready", 3)


async def test_isolated_calls_run_when_asked_for(tmp_path: Path, era: Era) -> None:
    work = desk(tmp_path, [asks("remote_a"), {"text": "Done."}], {"remote_a": ISOLATE})
    async with connected(tmp_path, era, config=CONFIG) as server:
        told = await waiting(server)
        assert [call["awaits"] for call in told["pending_calls"]] == ["isolated"]
        made = await server.call("run_isolated", session_id=told["session_id"])
        assert (made["pending_calls"], work.made) == ([], ["remote_a"])
        assert (await answered(server, told["session_id"]))["answer"] == "Done."


async def test_what_only_a_person_may_say_is_refused_to_a_model(tmp_path: Path, era: Era) -> None:
    work = desk(tmp_path, [asks(("pay", {"amount": 5}))], {"pay": APPROVE})
    async with connected(tmp_path, era, config=CONFIG) as server:
        told = await waiting(server)
        forged = await server.refuse("complete_call", token=tokens(told)["pay"], result={"receipt": "forged"})
        refused = await server.refuse("fail_call", token=tokens(told)["pay"], error="no")
    assert (forged["code"], refused["code"], work.made) == ("wrong_answer_kind", "person_required", [])
    assert "wf session approve" in forged["hint"]


async def test_what_is_not_there_or_out_of_range_is_refused_by_name(tmp_path: Path, era: Era) -> None:
    desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        there = (await server.call("start_session", agent="helper", prompt="Go."))["session_id"]
        refused = [
            await server.refuse("start_session", agent="helpr", prompt="Go."),
            await server.refuse("start_session", agent="helper", prompt=" "),
            await server.refuse("start_session", agent="helper"),
            await server.refuse("step_session", session_id="sess_nothing"),
            await server.refuse("resume_session", session_id=there, prompt=""),
            await server.refuse("inspect_session", session_id=there, turns=101),
            await server.refuse("inspect_session", session_id=there, wait_seconds=46),
            await server.refuse("list_sessions", limit=0),
            await server.refuse("list_sessions", cursor="x"),
            await server.refuse("list_sessions", status="unheard of"),
            await server.refuse("complete_call", token="call_nothing", result="x"),
            await server.refuse("list_pending", session_id="sess_nothing"),
        ]
    assert [error["code"] for error in refused] == [
        "agent_not_found", "invalid_argument", "invalid_argument", "session_not_found", "invalid_argument",
        "invalid_argument", "invalid_argument", "invalid_argument", "invalid_argument", "invalid_argument",
        "call_not_found", "session_not_found",
    ]  # fmt: skip
    assert "helper" in str(refused[0])


async def test_an_agent_is_named_by_its_slug_and_never_by_a_path(tmp_path: Path) -> None:
    """A model may not point the server at any file of the machine."""
    desk(tmp_path)
    async with connected(tmp_path, config=CONFIG) as server:
        for path in ("helper.agent.json", str(tmp_path / "helper.agent.json"), "./helper.agent.json"):
            error = await server.refuse("start_session", agent=path, prompt="Go.")
            assert error["code"] == "agent_not_found"


async def test_an_agent_that_cannot_run_says_why(tmp_path: Path, era: Era) -> None:
    desk(tmp_path, tools=["files.*"])
    async with connected(tmp_path, era, config=CONFIG) as server:
        told = await server.call("start_session", agent="helper", prompt="Go.")
    assert (told["status"], told["session_id"]) == ("unrunnable", None)
    assert told["diagnostics"]


async def test_of_a_session_with_very_many_calls_as_much_is_told_as_a_model_can_read(tmp_path: Path) -> None:
    desk(tmp_path, [asks(*["remote_a"] * 100, text="Much."), {"text": "Done."}])
    async with connected(tmp_path, config=CONFIG) as server:
        told = await waiting(server)
        name = {"session_id": told["session_id"]}
        seen = await server.call("inspect_session", **name)
        page = await server.call("list_pending", **name, limit=100)
        after = await server.call("list_pending", **name, limit=100, cursor=page["next_cursor"])
        settled = await server.call("complete_call", token=told["pending_calls"][0]["token"], result="one")
    for answer in (told, seen, page, after, settled):
        assert size(answer) <= MOST_BYTES
    assert "`pending_calls` has the first" in told["diagnostics"][0]["message"]
    listed = [one["call"]["call_id"] for one in (*page["pending"], *after["pending"])]
    assert listed == [f"t2.{number}" for number in range(len(listed))]
    assert 20 < len(page["pending"]) < 100
