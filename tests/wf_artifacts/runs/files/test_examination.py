"""Keys, the index and what does not belong to the runs of a home are looked at too."""

import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.samples import checkpoint, environment, new_run_id, record, start_and_release
from wf_artifacts.runs.files.index import RunIndex
from wf_artifacts.runs.files.keys import Keys
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.findings import Finding
from wf_artifacts.storage.home import Home
from wf_artifacts.stores import Stores, open_stores

pytestmark = pytest.mark.anyio

RUN = record(new_run_id(1), idempotency_key="k")
OTHER = record(new_run_id(2), status="completed")


@pytest.fixture
async def stores(home: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"file://{home}") as stores:
        await start_and_release(stores.runs, RUN, OTHER)
        yield stores


async def found(stores: Stores, *, repair: bool = False) -> list[Finding]:
    return [finding async for finding in stores.examine(repair=repair)]


async def repaired(stores: Stores) -> list[tuple[str, str]]:
    """Repair everything once, after which nothing is left to find, and give what was found."""
    findings = await found(stores)
    assert await found(stores, repair=True) == findings
    assert await found(stores) == []
    return [(finding.document, finding.kind) for finding in findings]


def key_of(home: Path) -> Path:
    (path,) = Keys(Home(home)).files()
    return path


def index_file(home: Path) -> Path:
    (path,) = (home / "index").glob("*.db")
    return path


@contextmanager
def becoming(home: Path, run: RunRecord) -> Generator[None]:
    """Make or change a run, as another process does."""
    index = RunIndex(Home(home), list)
    try:
        with index.becoming(run):
            yield
    finally:
        index.close()


async def listed(stores: Stores, **asked: Any) -> set[str]:
    page = await stores.runs.list_runs(principal=None, limit=10, **asked)
    return {one.run_id for one in page.items}


async def test_a_home_that_nothing_was_stored_in_is_sound_and_not_made(tmp_path: Path) -> None:
    async with open_stores(f"file://{tmp_path}/new") as stores:
        assert await found(stores, repair=True) == []
    assert not (tmp_path / "new").exists()


async def test_what_is_no_run_is_taken_out(home: Path, stores: Stores) -> None:
    (home / "runs" / "README").write_bytes(b"mine")
    (home / "runs" / ".hidden").mkdir()
    (home / "runs" / f".{new_run_id(9)}.tmp").mkdir()
    assert set(await repaired(stores)) == {
        ("runs/README", "unknown"),
        ("runs/.hidden", "unknown"),
        (f"runs/.{new_run_id(9)}.tmp", "leftover"),
    }
    assert (home / "lost+found" / "runs" / "README").read_bytes() == b"mine"


async def test_a_run_that_is_being_made_is_no_leftover(home: Path, stores: Stores) -> None:
    hidden = home / "runs" / f".{new_run_id(9)}.tmp"
    hidden.mkdir()
    with becoming(home, record(new_run_id(8))):
        assert await found(stores, repair=True) == []
    assert hidden.is_dir()


async def test_a_key_that_leads_to_no_run_is_taken_out(home: Path, stores: Stores) -> None:
    path = key_of(home)
    data = path.read_bytes()
    await stores.runs.delete(RUN.run_id)
    path.write_bytes(data)
    assert await repaired(stores) == [(path.relative_to(home).as_posix(), "leftover")]
    assert list(Keys(Home(home)).files()) == []


@pytest.mark.parametrize("damage", ["truncated", "of another key"])
async def test_a_damaged_key_is_replaced_by_that_of_its_run(home: Path, stores: Stores, damage: str) -> None:
    path = key_of(home)
    data = path.read_bytes()
    path.write_bytes(data[:20] if damage == "truncated" else data.replace(b'"key":"k"', b'"key":"x"'))
    findings = await found(stores, repair=True)
    assert [(one.document, one.kind) for one in findings] == [
        (path.relative_to(home).as_posix(), "damaged"),
        (f"runs/{RUN.run_id}/run.json", "orphaned"),
    ]
    assert path.read_bytes() == data
    assert await found(stores) == []


async def test_a_run_whose_key_is_gone_gets_it_again(home: Path, stores: Stores) -> None:
    key_of(home).unlink()
    assert await repaired(stores) == [(f"runs/{RUN.run_id}/run.json", "orphaned")]
    again = record(new_run_id(5), idempotency_key="k")
    assert (await stores.runs.create(again, environment(), checkpoint(again))).record == RUN


async def test_what_a_crash_left_beside_a_key_is_taken_out(home: Path, stores: Stores) -> None:
    key_of(home).with_name(".half.json.tmp").write_bytes(b"half")
    ((document, kind),) = await repaired(stores)
    assert (Path(document).name, kind) == (".half.json.tmp", "leftover")


@pytest.mark.parametrize(
    "harm",
    [
        f"DELETE FROM runs WHERE run_id = '{OTHER.run_id}'",
        f"UPDATE runs SET status = 'failed' WHERE run_id = '{OTHER.run_id}'",
        f"UPDATE runs SET principal = 'nobody' WHERE run_id = '{OTHER.run_id}'",
    ],
)
async def test_an_index_that_would_leave_a_run_out_is_made_anew(home: Path, stores: Stores, harm: str) -> None:
    await stores.close()
    with sqlite3.connect(index_file(home)) as index:
        index.execute(harm)
    index.close()
    assert OTHER.run_id not in await listed(stores, status="completed") or "principal" in harm
    assert await repaired(stores) == [("index", "damaged")]
    assert await listed(stores, status="completed") == {OTHER.run_id}
    page = await stores.runs.list_runs(principal="local", limit=10)
    assert len(page.items) == 2


async def test_an_index_that_names_runs_that_are_gone_is_made_anew(home: Path, stores: Stores) -> None:
    (home / "runs" / OTHER.run_id).rename(home / "elsewhere")
    assert await repaired(stores) == [("index", "leftover")]


async def test_a_run_that_was_put_back_is_listed_again(home: Path, stores: Stores) -> None:
    """A backup that was copied in place by hand."""
    (home / "runs" / OTHER.run_id).rename(home / "elsewhere")
    assert await repaired(stores) == [("index", "leftover")]
    (home / "elsewhere").rename(home / "runs" / OTHER.run_id)
    assert await listed(stores) == {RUN.run_id}
    assert await repaired(stores) == [("index", "damaged")]
    assert await listed(stores) == {RUN.run_id, OTHER.run_id}


async def test_a_run_that_a_crash_left_unsettled_is_no_fault(home: Path, stores: Stores) -> None:
    moved = OTHER.model_copy(update={"status": "failed"})
    gone = record(new_run_id(9))
    for begun in (moved, gone):
        with pytest.raises(ZeroDivisionError), becoming(home, begun):
            _ = 1 / 0
    assert await found(stores) == []
