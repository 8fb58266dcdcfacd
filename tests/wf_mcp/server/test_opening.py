"""When the application of a server is opened."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.server.connected import Era
from wf_mcp.app import App
from wf_mcp.config import InvalidConfig
from wf_mcp.server import opening
from wf_mcp.server.opening import Application, opened_when_needed

pytestmark = pytest.mark.anyio

NOT_YET = {
    "jsonschema_rs", "psycopg", "pydantic_ai", "sqlite3", "typer",
    "wf_artifacts.calls", "wf_artifacts.catalog.filetree", "wf_artifacts.runs", "wf_artifacts.sessions.filetree",
    "wf_artifacts.stores", "wf_core.runtime", "wf_core.schemas", "wf_core.sessions", "wf_core.validation",
    "wf_mcp.agents", "wf_mcp.app", "wf_mcp.cli", "wf_mcp.execution.runs", "wf_mcp.execution.sessions",
    "wf_mcp.isolation", "wf_mcp.llm", "wf_mcp.operations.runs", "wf_mcp.operations.sessions",
    "wf_mcp.server.application", "wf_mcp.sources.python", "wf_mcp.sources.registry", "wf_mcp.sources.upstream",
}  # fmt: skip
"""What none of the first answers needs."""

FIRST_ANSWERS = """
import sys
from pathlib import Path
import anyio
from mcp import Client
from wf_mcp import __main__
from wf_mcp.server import opening
from wf_mcp.server.build import build_server

opening.QUIET_SECONDS = 60

async def ask(mode):
    async with Client(build_server(home=Path("home")), mode=mode) as client:
        assert client.instructions
        print(*sys.modules)
        assert (await client.list_tools()).tools
        print(*sys.modules)

anyio.run(ask, sys.argv[1])
"""


class Place:
    """A real application that tells when it was opened and closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []
        self.opened = anyio.Event()

    def load(self) -> Application:
        self.told.append("loaded")
        return self.application

    @asynccontextmanager
    async def application(self) -> AsyncGenerator[App]:
        async with App.open(home=self.folder / "home", cwd=self.folder) as app:
            self.told.append("opened")
            self.opened.set()
            yield app
        self.told.append("closed")


def test_the_first_answers_load_nothing_of_what_works_with_runs_and_sessions(tmp_path: Path, era: Era) -> None:
    mode = "legacy" if era == "2025-11-25" else "auto"
    program = [sys.executable, "-c", FIRST_ANSWERS, mode]
    told = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    who, tools = (set(line.split()) for line in told.stdout.splitlines())
    assert tools & NOT_YET == set()
    assert who & {"wf_core.state", "wf_mcp.operations.models", "wf_mcp.server.tools"} == set()


def test_what_the_first_answers_do_not_load_is_there() -> None:
    """A name of a module that was moved would be looked for in vain."""
    assert [name for name in NOT_YET if find_spec(name) is None] == []


async def test_it_is_opened_once_by_those_who_need_it_and_closed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "QUIET_SECONDS", 60)
    place, apps = Place(tmp_path), list[App]()
    async with opened_when_needed(place.load, at_once=False) as served:
        assert place.told == []

        async def need() -> None:
            apps.append(await served.app())

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(need)
        assert place.told == ["loaded", "opened"]
    assert place.told == ["loaded", "opened", "closed"]
    assert len({id(app) for app in apps}) == 1


async def test_it_is_opened_unasked_where_there_may_be_something_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "QUIET_SECONDS", 0)
    place = Place(tmp_path)
    async with opened_when_needed(place.load, at_once=False):
        await place.opened.wait()


async def test_a_client_that_goes_at_once_waits_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "QUIET_SECONDS", 60)
    place = Place(tmp_path)
    async with opened_when_needed(place.load, at_once=False):
        pass
    assert place.told == []


async def test_what_is_wrong_with_it_is_raised_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text('{"stores": "memory://"}', encoding="utf-8")
    with pytest.RaisesGroup(InvalidConfig):
        async with opened_when_needed(Place(tmp_path).load, at_once=True):
            pytest.fail("it is served")
