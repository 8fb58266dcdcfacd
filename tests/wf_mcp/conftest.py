"""Fixtures for every test of what acts."""

from pathlib import Path

import pytest

from wf_artifacts.stores import Stores, open_stores


@pytest.fixture(params=["memory", "file"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    """Open empty stores: in memory, and in a file tree."""
    return open_stores("memory://" if request.param == "memory" else tmp_path.as_uri())
