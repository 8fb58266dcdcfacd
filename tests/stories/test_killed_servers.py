"""A server that is killed in the middle of a call loses nothing that was stored, and repeats nothing unasked."""

import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.stories.gate import Gate
from tests.stories.plans import ask, node, plan
from tests.stories.workplace import Era, Server, Workplace

pytestmark = pytest.mark.anyio

HELD = plan("held", hold=node("gate.pass_through", result="result"))
ASK_THEN_HOLD = plan("held", ask=ask(to="hold"), hold=node("gate.pass_through", result="result"))


@asynccontextmanager
async def held(workplace: Workplace, gate: Gate, flow: dict[str, Any] = HELD) -> AsyncGenerator[tuple[Server, str]]:
    """Give a server in the middle of the call of the gate, and its run."""
    async with workplace.server() as server:
        deployment = await server.deploy(flow)
        run = await server.call("run_deployment", deployment_id=deployment, workflow_input={}, wait_seconds=0)
        await gate.until_entered()
        yield server, run["run_id"]


async def left_behind(workplace: Workplace, gate: Gate) -> str:
    """Kill a server in the middle of the call of the gate, and give its run."""
    async with held(workplace, gate) as (server, run_id):
        server.kill()
    gate.open()
    return run_id


def doubts(seen: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["capability"], call["state"]) for call in seen["pending_calls"]]


def wf(workplace: Workplace, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run a command of `wf`, and give its exit status and its structured answer."""
    ran = workplace.wf(*arguments, "--json")
    return ran.returncode, json.loads(ran.stdout)


async def test_a_call_that_was_cut_off_is_in_doubt_and_a_person_says_that_it_was_carried_out(
    tmp_path: Path, era: Era
) -> None:
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(ASK_THEN_HOLD)))["run_id"]
        await server.call("resume_run", run_id=run_id, resume_payload={"reply": "go"}, wait_seconds=0)
        await gate.until_entered()
        server.kill()
    gate.open()
    async with workplace.server() as server:
        seen = await server.call("inspect_run", run_id=run_id, wait_seconds=20)
        assert (seen["status"], seen["resume_readiness"]) == ("interrupted", "blocked")
        assert doubts(seen) == [("gate.pass_through", "in_doubt")]
        [pending] = (await server.call("list_pending"))["pending"]
        assert pending["call"] == seen["pending_calls"][0]
        token = pending["call"]["token"]
        refused = await server.refuse("complete_call", token=token, result={"result": "by a model"})
        assert refused["code"] == "person_required"
        assert (await server.refuse("fail_call", token=token, error="no"))["code"] == "person_required"
        assert (await server.refuse("fail_call", token=f"{token}0", error="no"))["code"] == "call_not_found"
        shown = await to_thread.run_sync(workplace.wf, "calls", "show", token)
        assert f"wf calls complete {token} RESULT" in shown.stdout
        status, ended = await to_thread.run_sync(wf, workplace, "calls", "complete", token, '{"result": "by hand"}')
        assert (status, ended["status"], ended["output"]) == (0, "completed", {"result": "by hand"})
        assert (await server.refuse("complete_call", token=token, result={}))["code"] == "call_already_completed"
        assert (await server.call("inspect_run", run_id=run_id))["output"] == {"result": "by hand"}
    assert gate.entered == 1


@pytest.mark.parametrize("hints", ["read_only=True", "idempotent=True"])
async def test_a_call_that_may_be_repeated_is_made_again_when_a_server_starts(tmp_path: Path, hints: str) -> None:
    workplace = Workplace(tmp_path)
    gate = Gate(workplace, hints)
    run_id = await left_behind(workplace, gate)
    async with workplace.server() as server:
        ended = await server.call("inspect_run", run_id=run_id, wait_seconds=20)
    assert (ended["status"], ended["output"]) == ("completed", {"result": "through"})
    assert gate.entered == 2


async def test_a_run_goes_on_at_the_start_of_a_server_although_nobody_asks_for_it(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    gate = Gate(workplace, "idempotent=True")
    run_id = await left_behind(workplace, gate)
    async with workplace.server() as server:
        with anyio.fail_after(20):
            while not (listed := await server.call("list_runs", status="completed"))["runs"]:
                await anyio.lowlevel.checkpoint()
    assert [run["run_id"] for run in listed["runs"]] == [run_id]


async def test_a_run_that_was_killed_while_it_slept_wakes_in_the_next_server(tmp_path: Path) -> None:
    """Between two steps nothing is in flight: nothing is in doubt, and what was done is not done again."""
    workplace = Workplace(tmp_path)
    gate = Gate(workplace)
    gate.open()
    flow = plan("nap", before=node("gate.pass_through", to="nap", result="result"), nap=node("wf.std.sleep", seconds=2))
    async with workplace.server() as server:
        deployment = await server.deploy(flow)
        run = await server.call("run_deployment", deployment_id=deployment, workflow_input={}, wait_seconds=0)
        with anyio.fail_after(10):
            while (await server.call("inspect_run", run_id=run["run_id"]))["trace_count"] < 1:
                await anyio.lowlevel.checkpoint()
        server.kill()
    async with workplace.server() as server:
        ended = await server.call("inspect_run", run_id=run["run_id"], wait_seconds=20)
    assert (ended["status"], ended["output"]) == ("completed", {"result": "through"})
    assert gate.entered == 1


async def test_another_server_that_is_running_takes_the_run_over(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    gate = Gate(workplace, "idempotent=True")
    async with workplace.server() as other:
        run_id = await left_behind(workplace, gate)
        ended = await other.call("inspect_run", run_id=run_id, wait_seconds=20)
    assert (ended["status"], gate.entered) == ("completed", 2)


@pytest.mark.parametrize(
    ("word", "exit_status", "status", "entered"), [("fail", 1, "failed", 1), ("retry", 0, "completed", 2)]
)
async def test_without_any_server_the_command_line_goes_on_and_decides(
    tmp_path: Path, word: str, exit_status: int, status: str, entered: int
) -> None:
    workplace = Workplace(tmp_path)
    gate = Gate(workplace)
    run_id = await left_behind(workplace, gate)
    assert wf(workplace, "runs", "show", run_id)[1]["status"] == "running"
    recovered = wf(workplace, "runs", "recover")
    assert recovered == (0, {"runs": [{"run_id": run_id, "status": "interrupted", "reason": None}]})
    assert wf(workplace, "runs", "recover") == (0, {"runs": []})
    assert gate.entered == 1
    [waiting] = wf(workplace, "calls", "list")[1]["pending"]
    ended = wf(workplace, "calls", word, waiting["call"]["token"])
    assert (ended[0], ended[1]["status"], gate.entered) == (exit_status, status, entered)


async def test_of_two_servers_that_start_at_once_one_goes_on_with_the_run(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    gate = Gate(workplace, "idempotent=True")
    run_id = await left_behind(workplace, gate)
    async with workplace.server() as one, workplace.server() as other:
        seen: list[dict[str, Any]] = []

        async def look(server: Server) -> None:
            seen.append(await server.call("inspect_run", run_id=run_id, wait_seconds=20))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look, one)
            tasks.start_soon(look, other)
    assert [run["status"] for run in seen] == ["completed", "completed"]
    assert gate.entered == 2


async def test_a_server_that_is_only_stopped_keeps_its_run(tmp_path: Path) -> None:
    """A paused process still holds its lock: what it was doing is not taken for left behind."""
    workplace = Workplace(tmp_path)
    gate = Gate(workplace)
    async with workplace.server() as other, held(workplace, gate) as (server, run_id):
        server.signal(signal.SIGSTOP)
        try:
            seen = await other.call("inspect_run", run_id=run_id)
            refused = await other.refuse("cancel_run", run_id=run_id)
        finally:
            server.signal(signal.SIGCONT)
        gate.open()
        ended = await server.call("inspect_run", run_id=run_id, wait_seconds=20)
    assert (seen["status"], seen["pending_calls"], refused["code"]) == ("running", [], "run_busy")
    assert (ended["status"], gate.entered) == ("completed", 1)


async def test_what_was_answered_before_the_kill_stays_answered(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(plan("twice", first=ask(to="second"), second=ask())))
        first = {"run_id": asked["run_id"], "interrupt_id": asked["interrupt"]["id"], "resume_payload": {"reply": "1"}}
        again = await server.call("resume_run", **first)
        server.kill()
    async with workplace.server() as server:
        seen = await server.call("inspect_run", run_id=asked["run_id"])
        refused = await server.refuse("resume_run", **first)
        done = await server.call("resume_run", run_id=asked["run_id"], resume_payload={"reply": "2"})
    assert seen["interrupt"] == again["interrupt"]
    assert refused["code"] == "stale_interrupt"
    assert (done["status"], done["output"], done["trace_count"]) == ("completed", {"result": "2"}, 4)
