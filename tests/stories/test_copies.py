"""Of processes that copy to one store one does, and its copy is whole; one that is killed leaves it to the next."""

from pathlib import Path

import anyio
import pytest

from tests.stories.copier import Copier
from tests.wf_artifacts.conftest import postgres, postgres_server
from tests.wf_artifacts.samples import new_run_id, record, start_and_release
from wf_artifacts.errors import StoreBusy
from wf_artifacts.stores import open_stores
from wf_mcp.operations.copying import CopiedStore, copy_store

__all__ = ["postgres", "postgres_server"]

pytestmark = pytest.mark.anyio

RUNS = 20


@pytest.fixture
async def source(tmp_path: Path) -> str:
    """The address of a store with some runs."""
    url = (tmp_path / "source").as_uri()
    async with open_stores(url) as stores:
        await start_and_release(stores.runs, *(record(new_run_id(number)) for number in range(RUNS)))
    return url


@pytest.fixture(params=["file", "sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "file":
            return (tmp_path / "target").as_uri()
        case "sqlite":
            return f"sqlite:///{tmp_path}/target/wf.db"
        case _:
            return request.getfixturevalue("postgres")


async def runs_in(url: str) -> int:
    async with open_stores(url) as stores:
        return len((await stores.runs.list_runs(principal=None, limit=100)).items)


def files(folder: Path) -> set[Path]:
    return set((folder / "target").rglob("*"))


async def copied(source: str, target: str) -> CopiedStore:
    """Copy, as soon as nobody else does."""
    while True:
        try:
            return await copy_store(source, target)
        except StoreBusy:
            # A server notices a little later that the process at the other end was killed.
            await anyio.sleep(0.02)


async def test_a_copy_keeps_every_other_from_its_target(tmp_path: Path, source: str, target: str) -> None:
    """What is half copied is no copy that came to no end: nobody may clear it."""
    with Copier.start(source, target) as first:
        first.go_on()
        assert first.hear() == "copying"
        before = files(tmp_path)
        for _ in range(2):
            with pytest.raises(StoreBusy, match="under way"):
                await copy_store(source, target)
        assert files(tmp_path) == before
        first.go_on()
        assert first.hear() == {"runs": RUNS}
    assert await runs_in(target) == RUNS


async def test_a_copy_that_was_killed_leaves_its_target_to_the_next(source: str, target: str) -> None:
    with Copier.start(source, target) as first:
        first.go_on()
        assert first.hear() == "copying"
        first.process.kill()
        first.process.wait()
        with anyio.fail_after(20):
            assert (await copied(source, target)).runs == RUNS
    assert await runs_in(target) == RUNS


async def test_of_copies_that_begin_at_once_one_is_done(source: str, target: str) -> None:
    with Copier.start(source, target) as first, Copier.start(source, target) as second:
        for copier in (first, second):
            copier.go_on()
            copier.go_on()
        ends = [copier.end() for copier in (first, second)]
    assert {"runs": RUNS} in ends
    # Whoever comes when the other has ended already finds a store that holds something.
    ends.remove({"runs": RUNS})
    assert ends in ([{"error": "store_busy"}], [{"error": "invalid_argument"}])
    assert await runs_in(target) == RUNS
