"""Fixtures of the stories: a workplace for each protocol era, and the upstream servers that nobody here wrote."""

from pathlib import Path

import pytest

from tests.stories import upstreams
from tests.stories.workplace import Era, Workplace


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> Era:
    """Tell a story once in each protocol era."""
    return request.param


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """Give a folder to a story that is the same in both eras."""
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def time_server() -> str:
    return str(upstreams.python_server(upstreams.TIME_SERVER))


@pytest.fixture(scope="session")
def git_server() -> str:
    return str(upstreams.python_server(upstreams.GIT_SERVER))


@pytest.fixture(scope="session")
def files_server() -> str:
    return str(upstreams.npm_server(upstreams.FILES_SERVER, "mcp-server-filesystem"))
