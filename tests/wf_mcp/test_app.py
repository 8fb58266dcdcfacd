"""What one program has open, from its start to its end: real sources, real files."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import ask, node, plan
from wf_artifacts.stores import open_stores
from wf_mcp.app import App
from wf_mcp.config import InvalidConfig
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.runs import inspect_run, resume_run, run_deployment
from wf_mcp.operations.sources import call_capability, list_sources

pytestmark = pytest.mark.anyio

OPS = """
import threading
from wf_core import capability

entered, release = threading.Event(), threading.Event()

@capability(read_only=True)
def count(text: str) -> int:
    return len(text.split())

@capability()
def hold() -> dict:
    entered.set()
    release.wait(10)
    return {}
"""

DESK = """
import sys
from pathlib import Path
from mcp.server.mcpserver import MCPServer

server = MCPServer("desk", log_level="CRITICAL")

@server.tool()
def shout(text: str) -> dict[str, str]:
    with Path(sys.argv[1]).open("a") as calls:
        calls.write(text + "\\n")
    return {"text": text.upper()}

server.run("stdio")
"""

FLOW = plan(
    {
        "count": node("ops.count", "ask", input={"text": {"path": "input.text"}}, output={"state.words": "result"}),
        "ask": ask("shout", request={"words": {"path": "state.words"}}),
        "shout": node("desk.shout", input={"text": {"path": "input.text"}}, output={"state.text": "text"}),
    },
    state_schema={"properties": {"words": {"type": "integer"}, "text": {"type": "string"}}},
    output={"words": {"path": "state.words"}, "text": {"path": "state.text"}},
)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with a Python module, an upstream server over stdio, and the configuration of both."""
    (tmp_path / "ops.py").write_text(OPS, encoding="utf-8")
    (tmp_path / "desk.py").write_text(DESK, encoding="utf-8")
    config: dict[str, Any] = {
        "pythonSources": {"ops": {"module": "ops"}},
        "mcpServers": {"desk": {"command": sys.executable, "args": ["desk.py", str(tmp_path / "calls.txt")]}},
    }
    (tmp_path / "wf.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


async def test_a_run_over_real_sources_stops_and_goes_on_in_a_program_that_starts_later(workplace: Path) -> None:
    home = workplace / "home"
    async with App.open(home=home, cwd=workplace) as app:
        await save_artifact(app, artifact_id="flow", plan=FLOW)
        created = await create_deployment(app, deployment_id="flow", artifact_id="flow")
        assert (created.runnable, created.diagnostics) == (True, [])
        asked = await run_deployment(app, deployment_id="flow", workflow_input={"text": "two words"})
        assert asked.interrupt is not None
        assert asked.interrupt.payload == {"words": 2}
    assert asked.run_id is not None
    assert not (workplace / "calls.txt").exists()
    async with App.open(home=home, cwd=workplace) as app:
        assert (await inspect_run(app, run_id=asked.run_id)).resume_readiness == "ready"
        done = await resume_run(app, run_id=asked.run_id)
    assert (done.status, done.output) == ("completed", {"words": 2, "text": "TWO WORDS"})
    assert (workplace / "calls.txt").read_text() == "two words\n"


async def test_an_upstream_that_offers_something_else_now_blocks_the_run(workplace: Path) -> None:
    home = workplace / "home"
    async with App.open(home=home, cwd=workplace) as app:
        await save_artifact(app, artifact_id="flow", plan=FLOW)
        await create_deployment(app, deployment_id="flow", artifact_id="flow")
        asked = await run_deployment(app, deployment_id="flow", workflow_input={"text": "two words"})
    assert asked.run_id is not None
    (workplace / "desk.py").write_text(DESK.replace("text: str", "text: int"), encoding="utf-8")
    async with App.open(home=home, cwd=workplace) as app:
        blocked = await inspect_run(app, run_id=asked.run_id)
    assert (blocked.status, blocked.resume_readiness) == ("interrupted", "blocked")
    assert "contract_changed" in [one.code for one in blocked.diagnostics]


async def test_opening_touches_no_source_and_makes_no_folder(workplace: Path) -> None:
    (workplace / "ops.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    async with App.open(home=workplace / "home", cwd=workplace) as app:
        states = {row.name: row.status for row in (await list_sources(app)).sources}
    assert states == {"wf.std": "ready", "ops": "idle", "desk": "idle"}
    assert not (workplace / "home").exists()


async def test_a_call_that_is_stuck_in_a_thread_does_not_keep_the_program_open(workplace: Path) -> None:
    async with App.open(home=workplace / "home", cwd=workplace) as app:
        await save_artifact(app, artifact_id="held", plan=plan({"hold": node("ops.hold")}))
        await create_deployment(app, deployment_id="held", artifact_id="held")
        started = await run_deployment(app, deployment_id="held", wait_seconds=0.1)
        module = next(module for name, module in sys.modules.items() if getattr(module, "hold", None) and "ops" in name)
        with anyio.fail_after(5):
            await anyio.to_thread.run_sync(module.entered.wait)
    module.release.set()
    stores = open_stores((workplace / "home").as_uri())
    record = await stores.runs.load(started.run_id)  # type: ignore[arg-type]
    assert record.status == "running"
    assert not await stores.runs.is_claimed(record.run_id)


async def test_the_configuration_says_where_things_are_kept(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text('{"store": "memory://", "max_bytes": 100}', encoding="utf-8")
    async with App.open(home=tmp_path / "home", cwd=tmp_path) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"end": {"type": "end"}}))
        assert (await call_capability(app, name="wf.std.length", input={"value": "abc"})).output == {"value": 3}
    assert not (tmp_path / "home").exists()


async def test_a_configuration_that_cannot_be_used_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text('{"stores": "memory://"}', encoding="utf-8")
    with pytest.raises(InvalidConfig, match="store"):
        async with App.open(home=tmp_path / "home", cwd=tmp_path):
            pass


async def test_a_database_is_closed_when_the_program_ends(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text(json.dumps({"store": f"sqlite:///{tmp_path}/kept/wf.db"}), encoding="utf-8")
    async with App.open(home=tmp_path, cwd=tmp_path, environ={}) as app:
        await save_artifact(app, artifact_id="flow", plan=FLOW)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["wf.db"]


async def test_a_relative_database_counts_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, 100%"
    folder.mkdir()
    (folder / "wf.json").write_text('{"store": "sqlite:///wf.db"}', encoding="utf-8")
    async with App.open(home=tmp_path / "home", config=folder / "wf.json", cwd=tmp_path) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"now": node("wf.std.now")}))
    assert (folder / "wf.db").is_file()
