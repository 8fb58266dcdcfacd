"""A disk that is full, a home that cannot be used, and stored files that are damaged: told clearly, nothing lost."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.plans import ask, plan
from tests.stories.workplace import WF_MCP, Server, Workplace

pytestmark = pytest.mark.anyio

QUESTION = plan("question", ask=ask())
ROOM = 4_000_000
"""Bytes of the small disk, and of the largest file where files are bounded."""

BOUNDED = ("/bin/sh", "-c", f"ulimit -f {ROOM // 512}; exec {WF_MCP}")


@pytest.fixture
def small_disk(workplace: Workplace) -> Iterator[Workplace]:
    """Put the home of a workplace on a disk of 4 MB, which only root can make."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    workplace.home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(workplace.home)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.strip()}")
    yield workplace
    subprocess.run(["umount", str(workplace.home)], check=True)


async def test_a_full_disk_refuses_what_does_not_fit_and_keeps_what_is_there(small_disk: Workplace) -> None:
    async with small_disk.server() as server:
        await what_does_not_fit_is_refused(server)
    async with small_disk.server() as server:
        await the_paused_run_goes_on(server)


async def test_a_file_that_grows_too_long_is_like_a_full_disk(workplace: Workplace) -> None:
    async with workplace.server(*BOUNDED) as server:
        await what_does_not_fit_is_refused(server)
    async with workplace.server() as server:
        await the_paused_run_goes_on(server)


async def what_does_not_fit_is_refused(server: Server) -> None:
    """Start one run, then ask for more room than there is: for a run, for an answer, for an artifact."""
    paused = await server.run(await server.deploy(QUESTION), size="small")
    large = "x" * (ROOM + 1_000_000)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("run_deployment", {"deployment_id": "question", "workflow_input": {"text": large}}),
        ("resume_run", {"run_id": paused["run_id"], "resume_payload": {"reply": large}}),
        ("save_artifact", {"artifact_id": "large", "plan": {**QUESTION, "description": large}}),
    ]
    for tool, arguments in asked:
        assert (await server.refuse(tool, **arguments))["code"] == "store_full"


async def the_paused_run_goes_on(server: Server) -> None:
    """Find one run and one artifact, and bring the run to its end."""
    runs = (await server.call("list_runs"))["runs"]
    assert [run["status"] for run in runs] == ["interrupted"]
    assert [row["artifact_id"] for row in (await server.call("list_artifacts"))["artifacts"]] == ["question"]
    done = await server.call("resume_run", run_id=runs[0]["run_id"], resume_payload={"reply": "fits"})
    assert (done["status"], done["output"]) == ("completed", {"result": "fits"})


async def test_a_home_that_is_no_folder_is_an_unavailable_store(workplace: Workplace) -> None:
    workplace.home.write_text("not a folder", encoding="utf-8")
    async with workplace.server() as server:
        error = await server.refuse("list_runs")
    assert error["code"] == "store_unavailable"


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def emptied(_: bytes) -> bytes:
    return b""


def garbled(data: bytes) -> bytes:
    return b"\x00\xff" + data[2:]


def from_the_future(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), "version": 999}).encode()


DAMAGES = {
    truncated: "state_corrupt",
    emptied: "state_corrupt",
    garbled: "state_corrupt",
    from_the_future: "state_version_unsupported",
}


@pytest.mark.parametrize("document", ["run.json", "environment.json", "checkpoints/*.json"])
async def test_a_damaged_run_is_told_and_left_alone_and_the_others_go_on(workplace: Workplace, document: str) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        healthy, *damaged = [(await server.run("question"))["run_id"] for _ in range(len(DAMAGES) + 1)]
    for run_id, damage in zip(damaged, DAMAGES, strict=True):
        (stored,) = (workplace.home / "runs" / run_id).glob(document)
        harm(stored, damage)
    async with workplace.server() as server:
        for run_id, code in zip(damaged, DAMAGES.values(), strict=True):
            assert (await server.refuse("resume_run", run_id=run_id, resume_payload={"reply": "x"}))["code"] == code
        listed = await server.call("list_runs")
        assert healthy in [run["run_id"] for run in listed["runs"]]
        done = await server.call("resume_run", run_id=healthy, resume_payload={"reply": "fine"})
    assert done["status"] == "completed"


async def test_a_run_whose_record_is_damaged_is_listed_as_such(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        healthy, damaged = [(await server.run("question"))["run_id"] for _ in range(2)]
        harm(workplace.home / "runs" / damaged / "run.json", truncated)
        listed = await server.call("list_runs")
    assert [run["run_id"] for run in listed["runs"]] == [healthy]
    assert damaged in str(listed["diagnostics"])


async def test_a_damaged_trace_is_told_and_the_run_goes_on(workplace: Workplace) -> None:
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(QUESTION)))["run_id"]
        harm(workplace.home / "runs" / run_id / "journal" / "000001.jsonl", emptied)
        error = await server.refuse("read_run_trace", run_id=run_id)
        done = await server.call("resume_run", run_id=run_id, resume_payload={"reply": "fine"})
    assert error["code"] == "state_corrupt"
    assert (done["status"], done["output"]) == ("completed", {"result": "fine"})


async def test_a_damaged_artifact_is_told_and_the_others_are_listed(workplace: Workplace) -> None:
    async with workplace.server() as server:
        names = ["healthy", *(damage.__name__ for damage in DAMAGES)]
        for name in names:
            await server.call("save_artifact", artifact_id=name, plan=QUESTION)
        for damage in DAMAGES:
            harm(workplace.home / "artifacts" / damage.__name__ / "000001.json", damage)
        for damage, code in DAMAGES.items():
            assert (await server.refuse("inspect_artifact", artifact_id=damage.__name__))["code"] == code
        listed = await server.call("list_artifacts")
    assert "healthy" in [row["artifact_id"] for row in listed["artifacts"]]


async def test_a_damaged_deployment_is_told_and_the_others_are_listed(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        for damage in DAMAGES:
            await server.call("create_deployment", deployment_id=damage.__name__, artifact_id="question")
            harm(workplace.home / "deployments" / f"{damage.__name__}.json", damage)
        for damage, code in DAMAGES.items():
            assert (await server.refuse("run_deployment", deployment_id=damage.__name__))["code"] == code
        listed = await server.call("list_deployments")
        assert "question" in [row["deployment_id"] for row in listed["deployments"]]
        assert (await server.run("question"))["status"] == "interrupted"


def harm(path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.write_bytes(damage(path.read_bytes()))
