"""Agents and workflows as sources of a program."""

import json
from pathlib import Path

import pytest

from tests.wf_mcp.execution.callees.place import Home, saying

pytestmark = pytest.mark.anyio


async def test_agents_and_workflows_are_sources_and_are_told_to_by_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.agent("helper", saying("Yes."))
    async with home.open() as app:
        assert list(app.registry.sources()) == ["wf.std", "ops", "agents", "workflows"]
        assert app.registry.listed() == ["wf.std", "ops", "agents"]
        assert "run" in app.sessions.tell_by_kind


async def test_a_configured_source_of_such_a_name_stays_what_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.agent("helper", saying("Yes."))
    config = json.loads((tmp_path / "wf.json").read_text())
    config["pythonSources"] = {"agents": {"module": "ops", "path": "."}, "workflows": {"module": "ops", "path": "."}}
    (tmp_path / "wf.json").write_text(json.dumps(config))
    async with home.open() as app:
        kinds = {name: source.kind for name, source in app.registry.sources().items()}
        assert kinds == {"wf.std": "std", "agents": "python", "workflows": "python"}
