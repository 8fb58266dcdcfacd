"""What is wrong with a run is named, and repaired without losing a byte."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.wf_artifacts.samples import checkpoint, environment, following, inputs, new_run_id, record, trace
from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.findings import Finding
from wf_artifacts.stores import Stores, open_stores
from wf_core.codec import envelope
from wf_core.errors import StateCorrupt

pytestmark = pytest.mark.anyio

OPEN = record(new_run_id(1), status="interrupted")
ENDED = record(new_run_id(2), status="completed")
"""Runs with a trace and inputs."""


@pytest.fixture
async def stores(home: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"file://{home}") as stores:
        for begun in (OPEN, ENDED):
            made = await stores.runs.create(begun, environment(), checkpoint(begun))
            assert made.claim is not None
            moved = following(begun, entries=3)
            await stores.runs.commit(made.claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 3))
            await stores.runs.append(made.claim, inputs(moved, 2), sync=True)
            await made.claim.release()
        yield stores


@asynccontextmanager
async def held(stores: Stores, run: RunRecord) -> AsyncGenerator[Claim]:
    async with await stores.runs.claim(run.run_id) as claim:
        yield claim


async def found(stores: Stores, *, repair: bool = False) -> list[Finding]:
    return [finding async for finding in stores.examine(repair=repair)]


def folder(home: Path, run: RunRecord) -> Path:
    return home / "runs" / run.run_id


def garble(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\x00" + data[len(data) // 2 + 1 :])


def files(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


async def test_nothing_is_wrong_with_runs_that_were_left_alone(home: Path, stores: Stores) -> None:
    before = files(home / "runs")
    assert await found(stores) == await found(stores, repair=True) == []
    assert files(home / "runs") == before


NEEDED = ["run.json", "environment.json", "checkpoints/000002.json", "journal/inputs_000002.jsonl"]


@pytest.mark.parametrize("name", NEEDED)
async def test_an_open_run_that_nobody_can_go_on_with_is_taken_away_whole(
    home: Path, stores: Stores, name: str
) -> None:
    garble(folder(home, OPEN) / name)
    before = files(folder(home, OPEN))
    (finding,) = await found(stores)
    assert (finding.document, finding.kind) == (f"runs/{OPEN.run_id}/{name}", "damaged")
    assert finding.repair == "Moves the run to lost+found: nobody can go on with it."
    assert files(folder(home, OPEN)) == before
    assert await found(stores, repair=True) == [finding]
    assert files(home / "lost+found" / "runs" / OPEN.run_id) == before
    assert await found(stores) == []
    with pytest.raises(RunNotFound):
        await stores.runs.load(OPEN.run_id)
    assert [one.run_id for one in (await stores.runs.list_runs(principal=None, limit=10)).items] == [ENDED.run_id]


@pytest.mark.parametrize("name", NEEDED[1:])
async def test_the_rest_of_a_run_that_has_ended_can_still_be_shown(home: Path, stores: Stores, name: str) -> None:
    garble(folder(home, ENDED) / name)
    (finding,) = await found(stores, repair=True)
    assert (finding.document, finding.kind, finding.repair) == (f"runs/{ENDED.run_id}/{name}", "damaged", None)
    assert [one.run_id for one in (await stores.runs.list_runs(principal=None, limit=10)).items] == [
        ENDED.run_id,
        OPEN.run_id,
    ]


@pytest.mark.parametrize("damage", [garble, Path.unlink])
async def test_a_damaged_trace_does_not_end_a_run(home: Path, stores: Stores, damage: Callable[[Path], None]) -> None:
    damage(folder(home, OPEN) / "journal" / "000001.jsonl")
    (finding,) = await found(stores, repair=True)
    assert (finding.document, finding.repair) == (f"runs/{OPEN.run_id}/journal/000001.jsonl", None)
    async with held(stores, OPEN):
        pass


@pytest.mark.parametrize("name", NEEDED[:2])
async def test_what_a_newer_version_wrote_is_left_to_it(home: Path, stores: Stores, name: str) -> None:
    path = folder(home, OPEN) / name
    path.write_bytes(path.read_bytes().replace(b'"version":', b'"version":99', 1))
    before = files(folder(home, OPEN))
    (finding,) = await found(stores, repair=True)
    assert (finding.kind, finding.repair) == ("newer", None)
    assert "newer version" in finding.problem
    assert files(folder(home, OPEN)) == before


async def test_a_folder_that_lost_its_record_is_no_run(home: Path, stores: Stores) -> None:
    (folder(home, OPEN) / "run.json").unlink()
    findings = await found(stores, repair=True)
    assert [(one.document, one.kind) for one in findings] == [(f"runs/{OPEN.run_id}", "orphaned")]
    assert not folder(home, OPEN).exists()
    assert await found(stores) == []


async def test_what_a_crash_left_in_a_run_is_taken_out(home: Path, stores: Stores) -> None:
    names = ["checkpoints/000001.json", "journal/inputs_000001.jsonl", "journal/000002.jsonl", ".run.json.tmp"]
    for name in names:
        (folder(home, OPEN) / name).write_bytes(name.encode())
    findings = await found(stores, repair=True)
    assert {(one.document, one.kind) for one in findings} == {
        (f"runs/{OPEN.run_id}/{name}", "leftover") for name in names
    }
    assert files(home / "lost+found" / "runs" / OPEN.run_id) == {name: name.encode() for name in names}
    assert await found(stores) == []


async def test_what_does_not_belong_into_a_run_is_named_as_such(home: Path, stores: Stores) -> None:
    (folder(home, OPEN) / "notes.txt").write_bytes(b"mine")
    (folder(home, OPEN) / "journal" / "notes.txt").write_bytes(b"mine")
    (folder(home, OPEN) / "folder").mkdir()
    findings = await found(stores, repair=True)
    assert [one.kind for one in findings] == ["unknown"] * 3
    assert await found(stores) == []
    assert (home / "lost+found" / "runs" / OPEN.run_id / "folder").is_dir()


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("order", [(1,), (1, 0), (0, 0, 1)])
async def test_inputs_of_which_one_is_missing_or_elsewhere_are_damaged(
    home: Path, stores: Stores, version: int, order: tuple[int, ...]
) -> None:
    """Whoever went on from them would be somewhere else. In version 3 nothing says where they begin but run.json."""
    path = folder(home, OPEN) / "journal" / "inputs_000002.jsonl"
    header, *lines = path.read_bytes().splitlines(keepends=True)
    if version == 3:
        header = envelope.dump("wf.run_inputs", 3, {"run_id": OPEN.run_id, "checkpoint": 2}) + b"\n"
    path.write_bytes(b"".join([header, *lines]))
    assert await found(stores) == []
    path.write_bytes(b"".join([header, *(lines[number] for number in order)]))
    runs, run_id = stores.runs, OPEN.run_id
    assert [(one.document, one.kind) for one in await found(stores)] == [
        (f"runs/{run_id}/journal/inputs_000002.jsonl", "damaged")
    ]
    for read in (runs.load_journal, runs.claim):
        with pytest.raises(StateCorrupt):
            await read(run_id)
    if order != (0, 0, 1):
        with pytest.raises(StateCorrupt):
            await runs.read_trace(run_id, 3, 2)
    if order == (1, 0):
        with pytest.raises(StateCorrupt):
            await runs.load(run_id)


@pytest.mark.parametrize("name", ["000001.jsonl", "inputs_000002.jsonl"])
async def test_bytes_that_do_not_count_are_cut_off_and_kept(home: Path, stores: Stores, name: str) -> None:
    path = folder(home, OPEN) / "journal" / name
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"n":torn')
    (finding,) = await found(stores)
    assert (finding.kind, finding.problem) == ("leftover", "A crash left 9 bytes at its end that do not count.")
    assert await found(stores, repair=True) == [finding]
    assert path.read_bytes() == whole
    assert (home / "lost+found" / "runs" / OPEN.run_id / "journal" / name).read_bytes() == b'{"n":torn'
    assert await found(stores) == []


async def test_room_that_a_crash_left_is_no_fault(home: Path, stores: Stores) -> None:
    path = folder(home, OPEN) / "journal" / "inputs_000002.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(10_000))
    assert await found(stores, repair=True) == []
    async with held(stores, OPEN):
        assert path.read_bytes() == whole


async def test_torn_bytes_in_room_are_cut_off_with_it(home: Path, stores: Stores) -> None:
    path = folder(home, OPEN) / "journal" / "inputs_000002.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"n":torn' + bytes(10_000))
    (finding,) = await found(stores, repair=True)
    assert finding.problem == "A crash left 9 bytes at its end that do not count."
    assert path.read_bytes() == whole
    assert await found(stores) == []


async def test_what_a_holder_is_in_the_middle_of_is_no_fault(home: Path, stores: Stores) -> None:
    async with held(stores, OPEN):
        for name in (".run.json.tmp", "checkpoints/000003.json"):
            (folder(home, OPEN) / name).write_bytes(b"half")
        assert await found(stores, repair=True) == []
    assert len(await found(stores)) == 2


async def test_a_run_that_somebody_holds_is_not_repaired(home: Path, stores: Stores) -> None:
    async with held(stores, OPEN):
        garble(folder(home, OPEN) / "environment.json")
        before = files(folder(home, OPEN))
        assert len(await found(stores, repair=True)) == 1
        assert files(folder(home, OPEN)) == before


async def test_what_was_taken_away_before_is_kept_too(home: Path, stores: Stores) -> None:
    for content in (b"first", b"second", b"third"):
        (folder(home, OPEN) / "notes.txt").write_bytes(content)
        await found(stores, repair=True)
    assert files(home / "lost+found" / "runs" / OPEN.run_id) == {
        "notes.txt": b"first",
        "notes.txt.1": b"second",
        "notes.txt.2": b"third",
    }
