"""Agents and workflows that call each other, and what becomes of those whose caller ends: across real processes."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.desk import APPROVAL, SUMMARY, Desk
from tests.stories.workplace import Server

pytestmark = pytest.mark.anyio

CANCELS_AND_DIES = """
import os, signal, sys
from pathlib import Path
import anyio
from wf_mcp.app import App

async def main():
    async with App.open(home=Path("home"), config=Path("wf.json")) as app:
        app.runs.on_stop = None
        await app.runs.cancel(sys.argv[1], reason="enough")
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""
"""A process that is gone right after it stored the end of a run."""


def asks(agent: str) -> dict[str, Any]:
    return {
        "type": "node",
        "use": f"agents.{agent}",
        "input": {"prompt": {"value": "Go."}},
        "routes": {"ok": "__end__"},
    }


def flow(name: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "start": "ask", "state_schema": {"type": "object"}, "steps": {"ask": step}}


def office(folder: Path) -> Desk:
    """A workflow that asks an agent, whose tool is a workflow that asks an agent, who wants to ask a person."""
    desk = Desk(folder, [])
    tools: dict[str, list[str]] = {"outer": ["write", "middle"], "inner": ["write", "ask"], "holder": ["holds"]}
    for slug, names in tools.items():
        calls = [{"name": name, "arguments": {"what": slug} if name == "write" else {}} for name in names]
        desk.place.write(f"{slug}.json", json.dumps({"answers": [{"toolCalls": calls}, SUMMARY]}))
        agent = {
            "slug": slug,
            "model": f"scripted:{slug}.json",
            "tools": ["tools.*", "workflows.middle"] if slug == "outer" else ["tools.*"],
            "toolCallPolicyConfig": {"rules": [{"tool": "ask", "disposition": APPROVAL}]},
        }
        desk.place.write(f"{slug}.agent.json", json.dumps(agent))
    desk.configure(agents={slug: {"file": f"{slug}.agent.json"} for slug in tools})
    return desk


async def pending(server: Server) -> list[dict[str, Any]]:
    return (await server.call("list_pending", limit=100))["pending"]


async def test_whoever_ends_a_run_ends_all_below_it_and_what_does_not_go_on_says_why(tmp_path: Path) -> None:
    desk = office(tmp_path)
    async with desk.server() as server:
        for name, agent in (("middle", "inner"), ("top", "outer"), ("held", "holder")):
            await server.deploy(flow(name, asks(agent)))
        doomed, cancelled, kept = [(await server.run("top"))["run_id"] for _ in range(3)]
        assert len(await pending(server)) == 12
        told = await server.call("cancel_run", run_id=cancelled)
        assert told["status"] == "cancelled"
        assert len(await pending(server)) == 8

        held = await server.call("run_deployment", deployment_id="held", wait_seconds=0)
        await desk.until_noted(7)
        await server.call("cancel_run", run_id=held["run_id"])
        (holder,) = [
            row for row in (await server.call("list_sessions", limit=100))["sessions"] if row["agent"] == "holder"
        ]
        assert (holder["status"], holder["error_code"]) == ("failed", "cancelled")
        desk.open()
        server.kill()

    dies = await anyio.run_process([sys.executable, "-c", CANCELS_AND_DIES, doomed], cwd=tmp_path, check=False)
    assert dies.returncode == -signal.SIGKILL
    async with desk.server() as server:
        with anyio.fail_after(20):
            while len(waiting := await pending(server)) != 4:
                await anyio.lowlevel.checkpoint()
        runs = (await server.call("list_runs", status="cancelled", limit=100))["runs"]
        assert sorted(row["deployment_id"] for row in runs) == ["held", "middle", "middle", "top", "top"]
        (approval,) = [item["call"] for item in waiting if item["call"]["capability"] == "tools.ask"]
        ended = await server.call("inspect_session", session_id=ended_by(doomed, await sessions(server)))
        assert f"The run {doomed}, which called this, was cancelled." in ended["error"]["message"]
        assert "write outer done" in json.dumps(ended["conversation"])

        await server.call("delete_deployment", deployment_id="middle")
        for told in (await server.call("inspect_run", run_id=kept), desk.wf("pending", "--run", kept)["pending"][0]):
            assert "the deployment middle was deleted" in json.dumps(told)
            assert "create_deployment(deployment_id='middle', artifact_id='middle', version=1)" in json.dumps(told)
        await server.call("create_deployment", deployment_id="middle", artifact_id="middle")

        await server.call("pause_session", session_id=approval["session_id"])
        desk.wf("session", "approve", approval["token"])
        told = await server.call("inspect_run", run_id=kept, wait_seconds=1)
        assert (told["status"], desk.noted[-1]) == ("interrupted", "holds")
        assert "is paused" in told["pending_calls"][0]["reason"]
        await server.call("resume_session", session_id=approval["session_id"])
        with anyio.fail_after(30):
            while (await server.call("inspect_run", run_id=kept, wait_seconds=5))["status"] != "completed":
                await anyio.lowlevel.checkpoint()
    assert desk.noted == ["write outer", "write inner"] * 3 + ["holds", "ask"]


async def sessions(server: Server) -> list[dict[str, Any]]:
    rows = (await server.call("list_sessions", status="failed", limit=100))["sessions"]
    return [await server.call("inspect_session", session_id=row["session_id"]) for row in rows]


def ended_by(run_id: str, found: list[dict[str, Any]]) -> str:
    """Give the session that a run called."""
    (session_id,) = [one["session_id"] for one in found if one["parent"] == run_id]
    return session_id
