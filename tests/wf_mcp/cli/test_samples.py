"""The sample workflow that ships with the program."""

import json
from pathlib import Path

import pytest

from wf_core.validation import read_plan
from wf_mcp.cli.samples import sample, write_sample, write_session_sample
from wf_mcp.config.agents import load_agent
from wf_mcp.config.load import parse_config
from wf_mcp.errors import InvalidArgument
from wf_mcp.llm.scripted import Script


def test_the_sample_has_everything_that_it_names(tmp_path: Path) -> None:
    written = {str(path.relative_to(tmp_path)) for path in write_sample(tmp_path)}

    assert written >= {"wf.json", "ops.py", "notes_server.py", "publish_note.json", "notes/sourdough.md"}
    assert all((tmp_path / name).is_file() for name in written)


def test_a_folder_of_ones_own_takes_the_place_of_the_sample_notes(tmp_path: Path) -> None:
    mine = tmp_path / "mine"

    written = write_sample(tmp_path / "work", notes=mine)

    assert not any("notes/" in str(path.relative_to(tmp_path)) for path in written)
    server = json.loads((tmp_path / "work" / "wf.json").read_text(encoding="utf-8"))["mcpServers"]["notes"]
    assert str(mine) in server["args"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("mine", encoding="utf-8")

    with pytest.raises(InvalidArgument, match=r"already has ops\.py"):
        write_sample(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["ops.py"]


def test_the_plan_of_the_sample_is_valid() -> None:
    plan = json.loads((sample() / "publish_note.json").read_text(encoding="utf-8"))

    assert read_plan(plan).issues == []


def test_the_sample_of_a_session_has_everything_that_it_names(tmp_path: Path) -> None:
    written = {path.name for path in write_session_sample(tmp_path / "new")}

    config = parse_config((tmp_path / "new" / "wf.json").read_bytes())
    agents = [load_agent(tmp_path / "new" / entry.file) for entry in config.agents.values()]
    assert {agent.slug for agent in agents} == set(config.agents) == {"researcher", "isolated"}
    assert written == {"wf.json", "fetching.py", "answers.json", "researcher.agent.json", "isolated.agent.json"}
    script = Script.model_validate(json.loads((tmp_path / "new" / "answers.json").read_text(encoding="utf-8")))
    assert [len(answer.tool_calls) for answer in script.answers] == [3, 0]


def test_the_sample_of_a_session_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text("mine", encoding="utf-8")

    with pytest.raises(InvalidArgument, match=r"already has wf\.json"):
        write_session_sample(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["wf.json"]
