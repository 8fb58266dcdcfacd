"""Every store on every backend."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.wf_artifacts.samples import Start, checkpoint, environment
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.store import Claim, RunStore
from wf_artifacts.stores import Stores, open_stores


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that the first write makes."""
    return tmp_path / "home"


@pytest.fixture(params=["memory", "file"])
async def stores(request: pytest.FixtureRequest, home: Path) -> AsyncIterator[Stores]:
    """Stores that keep nothing yet."""
    opened = open_stores("memory://" if request.param == "memory" else f"file://{home}")
    yield opened
    await opened.close()


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


@pytest.fixture
async def start(runs: RunStore) -> AsyncIterator[Start]:
    """Create runs; the claims that come with them end with the test."""
    async with AsyncExitStack() as claims:

        async def start(begun: RunRecord) -> Claim:
            made = await runs.create(begun, environment(), checkpoint(begun))
            assert made.created
            assert made.claim is not None
            return await claims.enter_async_context(made.claim)

        yield start
