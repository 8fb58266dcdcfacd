"""Fixtures of the stories: a workplace for each protocol era, and the upstream servers that nobody here wrote."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.stories import upstreams
from tests.stories.desk import Answer, Desk
from tests.stories.workplace import Workplace, serving

ERAS: Final = ("2025-11-25", "2026-07-28")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tell a story in one protocol era, which its name decides, and with `--hypothesis-profile=thorough` in each.

    What the eras do otherwise than each other has tests of its own, beside the server.
    """
    if "era" in metafunc.fixturenames:
        thorough = metafunc.config.getoption("--hypothesis-profile") == "thorough"
        one = ERAS[len(metafunc.function.__name__) % 2]
        metafunc.parametrize("era", ERAS if thorough else (one,))


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """Give a folder to a story that is the same in both eras."""
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, str]]:
    """One server on HTTP for all stories that do not have to kill theirs: its folder and its URL."""
    folder = tmp_path_factory.mktemp("office")
    with serving(Desk(folder, []).place) as url:
        yield folder, url


@pytest.fixture
def office(standing: tuple[Path, str]) -> Callable[..., Desk]:
    """Take a desk in the folder of the server that stands: `office([answers…], rules={…}, maxTurns=2)`."""
    folder, url = standing

    def take(answers: list[Answer], rules: dict[str, dict[str, Any]] | None = None, **fields: Any) -> Desk:
        given = {} if rules is None else {"rules": rules}
        return Desk(folder, answers, fields=fields, url=url, **given)

    return take


@pytest.fixture(scope="session")
def time_server() -> str:
    return str(upstreams.python_server(upstreams.TIME_SERVER))


@pytest.fixture(scope="session")
def git_server() -> str:
    return str(upstreams.python_server(upstreams.GIT_SERVER))


@pytest.fixture(scope="session")
def files_server() -> str:
    return str(upstreams.npm_server(upstreams.FILES_SERVER, "mcp-server-filesystem"))
