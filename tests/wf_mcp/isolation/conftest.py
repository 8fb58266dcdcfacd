"""Fixtures of isolated calls."""

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.wf_mcp.isolation.calls import Marked
from tests.wf_mcp.isolation.engine import Engine, NoEngine, unusable


@pytest.fixture
def marked(tmp_path: Path) -> Generator[Marked]:
    """Give runners of which nothing may be left at the end of the test."""
    marked = Marked(tmp_path)
    yield marked
    left = marked.left()
    marked.kill_left()
    assert left == []


@pytest.fixture(scope="session")
def running_engine() -> Generator[Engine]:
    """Start a container engine of our own, with an image that holds the shell worker."""
    if (reason := unusable()) is not None:
        pytest.skip(reason)
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(Engine.start())
        except NoEngine as exc:
            pytest.skip(str(exc))
        yield engine


@pytest.fixture
def engine(running_engine: Engine) -> Generator[Engine]:
    """Give the engine, where no container may be left at the end of the test."""
    yield running_engine
    assert running_engine.containers() == []
