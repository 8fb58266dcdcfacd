"""Faults of section C: who goes on with a session, after a kill, after a wait, when its time has come.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address. C45 (https://github.com/inngest/inngest/issues/2423, minutes from an event to progress) is measured by
`benchmarks/sessions.py`.
"""

import shutil
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.desk import (
    AT_ONCE,
    BACKGROUND,
    DEFER,
    ISOLATED,
    SUMMARY,
    Desk,
    begin,
    calling,
    resume,
    start,
    tokens,
)
from tests.stories.workplace import Server, until

pytestmark = pytest.mark.anyio

Office = Callable[..., Desk]

LEFT = 5
"""Sessions that a killed server leaves in the middle of a call."""

ANSWER = "- holds_again: holds done"


@asynccontextmanager
async def left_behind(folder: Path) -> AsyncGenerator[tuple[Desk, list[str]]]:
    """Kill a server in the middle of sessions whose calls may be repeated; give their ids, in their order."""
    desk = Desk(folder, [calling("holds_again"), SUMMARY])
    async with desk.server() as server:
        left = sorted([await start(server) for _ in range(LEFT)])
        for session_id in left:
            await server.call("resume_session", session_id=session_id, wait_seconds=0)
        await desk.until_noted(LEFT)
        server.kill()
    desk.open()
    yield desk, left


async def answered(server: Server, number: int) -> set[str]:
    """Wait until so many sessions have their answers, which nobody asks for."""
    with anyio.fail_after(30):
        while len(rows := (await server.call("list_sessions", status="answered"))["sessions"]) < number:
            await anyio.lowlevel.checkpoint()
    return {row["session_id"] for row in rows}


async def look_at(server: Server, session_id: str) -> dict[str, Any]:
    return await server.call("inspect_session", session_id=session_id)


async def test_of_two_servers_that_find_the_same_sessions_one_goes_on_with_each(tmp_path: Path) -> None:
    """C33, https://github.com/dbos-inc/dbos-transact-py/issues/742: what was claimed meanwhile is recovered again.

    C38, https://github.com/dbos-inc/dbos-transact-ts/pull/1206: two that resume the same one get different results.
    """
    async with left_behind(tmp_path) as (desk, left), desk.server() as one, desk.server() as other:
        assert await answered(one, LEFT) == set(left) == await answered(other, LEFT)
        assert len(desk.noted) == 2 * LEFT
        desk.answers = [calling("far", "write"), calling("mail"), SUMMARY]
        desk.write_agent()
        told: list[dict[str, Any]] = []
        waiting = await begin(one)
        await one.call("pause_session", session_id=waiting["session_id"])

        async def resumed(server: Server) -> None:
            with anyio.fail_after(20):
                while True:
                    result = await server.client.call_tool("resume_session", {"session_id": waiting["session_id"]})
                    answer: dict[str, Any] = result.structured_content or {}
                    if not result.is_error:
                        break
                    assert answer["error"]["code"] == "session_busy"
            told.append(answer)

        token = {"token": tokens(waiting)["far"]}
        await other.call("complete_call", **token, result="once")
        async with anyio.create_task_group() as tasks:
            for server in (one, other):
                tasks.start_soon(resumed, server)
        assert {answer["answer"] for answer in told} == {"- mail: mail done"}
        assert desk.noted[2 * LEFT :] == ["write", "mail"]


async def test_one_session_that_cannot_be_read_keeps_no_other_from_going_on(tmp_path: Path) -> None:
    """C34, https://github.com/dbos-inc/dbos-transact-py/issues/716: one failure ends all recovery, in silence."""
    async with left_behind(tmp_path) as (desk, left):
        second = desk.place.home / "sessions" / left[1]
        shutil.move(second / "events.jsonl", tmp_path / "events.jsonl")
        async with desk.server() as server:
            assert await answered(server, LEFT - 1) == {*left} - {left[1]}
            await until(lambda: left[1] in "".join(desk.place.log.split()))
            server.kill()
        shutil.move(tmp_path / "events.jsonl", second / "events.jsonl")
        async with desk.server() as server:
            assert await answered(server, LEFT) == {*left}
    assert len(desk.noted) == 2 * LEFT


async def test_what_is_no_id_is_refused_at_the_door(office: Office) -> None:
    """C35, https://github.com/dbos-inc/dbos-transact-py/issues/759: an empty id is stored, and never found again."""
    desk = office([calling("far"), SUMMARY])
    async with desk.server() as server:
        session_id = await start(server)
        outside = set(desk.folder.iterdir())
        for odd in ("", " ", "../x", "a/b", "x" * 300, "x\u0000y", "\U0001f600", session_id.lower(), f"{session_id}/"):
            for tool in ("inspect_session", "resume_session", "step_session", "run_isolated"):
                error = await server.refuse(tool, session_id=odd)
                assert error["code"] == "session_not_found", (tool, odd)
        for odd in ("", "../x", "x" * 300, "helper\u0000", "HELPER"):
            error = await server.refuse("start_session", agent=odd, prompt="Go.")
            assert error["code"] in {"agent_not_found", "invalid_argument"}, odd
        assert set(desk.folder.iterdir()) == outside


async def test_a_session_that_was_killed_between_two_steps_is_not_left_running(tmp_path: Path) -> None:
    """C37, https://github.com/dbos-inc/dbos-transact-py/issues/805: it is running for ever, and blocks others."""
    slow: dict[str, Any] = {**SUMMARY, "delayMilliseconds": 600_000}
    desk = Desk(tmp_path, [calling("write"), slow])
    async with desk.server() as server:
        by_itself, by_steps = await start(server), await start(server)
        await server.call("resume_session", session_id=by_itself, wait_seconds=0)
        await server.call("step_session", session_id=by_steps)
        await server.call("step_session", session_id=by_steps)
        await server.call("step_session", session_id=by_steps, wait_seconds=0)
        with anyio.fail_after(20):
            while [(await look_at(server, one))["turns"] for one in (by_itself, by_steps)] != [3, 3]:
                await anyio.lowlevel.checkpoint()
        server.kill()
    del slow["delayMilliseconds"]
    desk.write_agent()
    async with desk.server() as server:
        assert await answered(server, 1) == {by_itself}
        with anyio.fail_after(20):
            while (await server.call("list_sessions", status="running"))["sessions"]:
                await anyio.lowlevel.checkpoint()
        assert (await look_at(server, by_steps))["status"] == "ready"
        assert (await resume(server, by_steps))["answer"] == "- write: write done"
    assert desk.noted == ["write"] * 2


async def test_a_server_that_stood_still_catches_up_once(tmp_path: Path) -> None:
    """C39, https://github.com/dbos-inc/dbos-transact-py/issues/803: each look that was missed is made up for."""
    desk = Desk(tmp_path, [calling("far"), calling("write"), SUMMARY])
    async with desk.server() as server:
        waiting = await begin(server)
        server.signal(signal.SIGSTOP)
        result = str(desk.place.write("result.json", '"meanwhile"'))
        desk.wf("session", "complete", tokens(waiting)["far"], result)
        await anyio.sleep(2.5)
        server.signal(signal.SIGCONT)
        assert await answered(server, 1) == {waiting["session_id"]}
        await anyio.sleep(1.5)
        told = await look_at(server, waiting["session_id"])
    assert (told["answer"], told["turns"], desk.noted) == ("- write: write done", 6, ["write"])


async def test_a_call_that_nobody_here_can_isolate_says_so_and_is_answered_by_hand(office: Office) -> None:
    """C42, https://github.com/restatedev/restate/issues/5196: it waits for ever for what only it could do."""
    constant: dict[str, Any] = {"name": "constant", "arguments": {"value": 1}}
    rules: dict[str, Any] = {"constant": {"tag": "runIsolated", "spec": {}}}
    desk = office([{"toolCalls": [constant] * 2}, SUMMARY], rules, tools=["wf.std.constant"])
    async with desk.server() as server:
        waiting = await begin(server)
        first, second = waiting["pending_calls"]
        assert [call["reason"] for call in (first, second)] == ["no runner"] * 2
        refused = await server.refuse("run_isolated", session_id=waiting["session_id"])
        assert refused["code"] == "runner_missing"
        await server.call("complete_call", token=first["token"], result="by hand")
        await server.call("fail_call", token=second["token"], error="nobody can")
        told = await resume(server, waiting["session_id"])
    assert told["answer"] == "- constant: by hand\n- constant: nobody can"


async def test_a_call_whose_time_is_over_stays_so_after_a_restart(tmp_path: Path) -> None:
    """C46, https://github.com/earendil-works/absurd/issues/96: a wait that ran out is forgotten, and begins again."""
    rules = {"far": {**DEFER, "expiresSeconds": 0.3}, "away": DEFER}
    desk = Desk(tmp_path, [calling("far", "away"), SUMMARY], rules)
    async with desk.server() as server:
        waiting = await begin(server)
        server.kill()
    await anyio.sleep(0.3)
    async with desk.server() as server:
        told = await resume(server, waiting["session_id"])
        assert list(tokens(told)) == ["away"]
        assert (await server.refuse("complete_call", token=tokens(waiting)["far"], result=1))["code"] == "call_expired"
        server.kill()
    async with desk.server() as server:
        assert (await server.refuse("complete_call", token=tokens(waiting)["far"], result=1))["code"] == "call_expired"
        await server.call("complete_call", token=tokens(told)["away"], result="there")
        answer = (await resume(server, waiting["session_id"]))["answer"]
    assert answer == "- far: Nobody answered this call in time; it was given up.\n- away: there"


async def test_every_limit_in_seconds_ends_what_it_limits(office: Office) -> None:
    """C49, https://github.com/lastmile-ai/mcp-agent/pull/505: a limit is written down, and nobody keeps to it."""
    second = 0.5
    rules = {
        "holds": {"tag": "decorate", "decorators": [{"tag": "withTimeout", "seconds": second}], "inner": AT_ONCE},
        "holds_again": BACKGROUND,
        "far": {**DEFER, "expiresSeconds": second},
        "apart": ISOLATED,
    }
    runner = {"sandbox": "process", "command": ["sleep", "600"], "timeoutSeconds": second}
    script = [calling("holds", "holds_again", "far", "apart"), SUMMARY]
    desk = office(script, rules, runner=runner, asyncCallTimeoutSeconds=second)
    async with desk.server() as server:
        session_id = await start(server)
        await server.call("resume_session", session_id=session_id, wait_seconds=0)
        await desk.until_noted(2)
        await resume(server, session_id)
        await server.call("run_isolated", session_id=session_id)
        await anyio.sleep(second)
        told = await resume(server, session_id)
    desk.open()
    lines = told["answer"].splitlines()
    assert [line.split(": ")[0] for line in lines] == ["- holds", "- holds_again", "- far", "- apart"]
    for line, why in zip(lines, ("timeout", "timeout", "in time", "timeout"), strict=True):
        assert why in line
