"""Workflows over real MCP servers that nobody here wrote, in both eras: to the end, and over a killed server."""

import subprocess
from pathlib import Path

import pytest

from tests.stories.plans import ask, node, plan
from tests.stories.upstreams import INSTALL_SECONDS
from tests.stories.workplace import Era, Workplace

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(INSTALL_SECONDS)]

TOKYO = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}


async def test_a_run_converts_a_time(tmp_path: Path, era: Era, time_server: str) -> None:
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"time": {"command": time_server}})
    flow = plan("convert", convert=node("time.convert_time", result="time_difference", **TOKYO))
    async with workplace.server() as server:
        done = await server.run(await server.deploy(flow))
    assert (done["status"], done["output"]) == ("completed", {"result": "+9.0h"})


async def test_a_time_is_converted_after_the_server_was_killed(tmp_path: Path, era: Era, time_server: str) -> None:
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"time": {"command": time_server}})
    convert = node("time.convert_time", result="target.datetime", **TOKYO)
    convert["input"]["target_timezone"] = {"path": "state.result"}
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(plan("convert", ask=ask(to="convert"), convert=convert)))
        assert asked["status"] == "interrupted"
        server.kill()
    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=asked["run_id"], resume_payload={"reply": "Asia/Kathmandu"})
    assert done["status"] == "completed"
    assert done["output"]["result"].endswith("T17:45:00+05:45")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with one file that is not committed yet."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "A Writer")
    git(folder, "config", "user.email", "writer@example.com")
    (folder / "note.md").write_text("# A note\n", encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> str:
    finished = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return finished.stdout


async def test_a_run_reads_the_state_of_a_repository(
    tmp_path: Path, era: Era, git_server: str, repository: Path
) -> None:
    """The server describes no output, so its text is the result."""
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"git": {"command": git_server}})
    async with workplace.server() as server:
        flow = plan("status", status=node("git.git_status", result="text", repo_path=str(repository)))
        done = await server.run(await server.deploy(flow))
    assert done["status"] == "completed"
    assert "note.md" in done["output"]["result"]


async def test_a_note_is_committed_once_after_the_server_was_killed(
    tmp_path: Path, era: Era, git_server: str, repository: Path
) -> None:
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"git": {"command": git_server}})
    commit = node("git.git_commit", repo_path=str(repository))
    commit["input"]["message"] = {"path": "state.result"}
    add = node("git.git_add", to="ask", repo_path=str(repository), files=["note.md"])
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(plan("commit", add=add, ask=ask(to="commit"), commit=commit)))
        assert asked["status"] == "interrupted"
        server.kill()
    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=asked["run_id"], resume_payload={"reply": "Add a note"})
    assert done["status"] == "completed"
    assert git(repository, "log", "--format=%s") == "Add a note\n"


NOTE_PLAN = {
    "name": "publish",
    "input_schema": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]},
    "state_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "output_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "outcomes": ["ok", "rejected"],
    "start": "read",
    "steps": {
        "read": {
            "type": "node",
            "use": "files.read_text_file",
            "input": {"path": {"path": "input.file"}},
            "output": {"state.text": "content"},
            "routes": {"ok": "review"},
        },
        "review": {
            "type": "interrupt",
            "kind": "approval",
            "request": {"text": {"path": "state.text"}},
            "outcomes": ["approved", "rejected"],
            "routes": {"approved": "write", "rejected": "stop"},
        },
        "write": {
            "type": "node",
            "use": "files.write_file",
            "input": {"path": {"template": "{{input.file}}.published"}, "content": {"path": "state.text"}},
            "routes": {"ok": "__end__"},
        },
        "stop": {"type": "end", "outcome": "rejected"},
    },
}


async def test_a_run_reads_a_note_and_stops_where_it_is_rejected(tmp_path: Path, era: Era, files_server: str) -> None:
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"files": {"command": files_server, "args": [str(tmp_path)]}})
    note = workplace.write("note.md", "# A note\n")
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(NOTE_PLAN), file=str(note))
        assert asked["interrupt"]["payload"] == {"text": "# A note\n"}
        done = await server.call("resume_run", run_id=asked["run_id"], resume_outcome="rejected")
    assert (done["status"], done["outcome"]) == ("completed", "rejected")
    assert not (tmp_path / "note.md.published").exists()


async def test_a_note_is_published_after_the_server_was_killed(tmp_path: Path, era: Era, files_server: str) -> None:
    workplace = Workplace(tmp_path, era)
    workplace.configure(mcpServers={"files": {"command": files_server, "args": [str(tmp_path)]}})
    note = workplace.write("note.md", "# A note\n")
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(NOTE_PLAN), file=str(note))
        assert asked["status"] == "interrupted"
        server.kill()
    note.write_text("changed while the question was open", encoding="utf-8")
    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=asked["run_id"], resume_outcome="approved")
    assert (done["status"], done["outcome"]) == ("completed", "ok")
    assert (tmp_path / "note.md.published").read_text(encoding="utf-8") == "# A note\n"
