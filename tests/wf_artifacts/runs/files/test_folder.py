"""Damaged files of a run: told, named, left alone, and nobody else's trouble."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import resealed
from tests.wf_artifacts.samples import checkpoint, environment, following, new_run_id, record, trace
from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.store import RunStore
from wf_artifacts.stores import open_stores
from wf_core.codec.runs import VERSION
from wf_core.errors import FormatTooNew, StateCorrupt, StateError
from wf_core.ids import RunId

pytestmark = pytest.mark.anyio

HEALTHY = new_run_id(1)
DAMAGED = new_run_id(2)

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "begun with a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "doubled": lambda data: data + data,
    "garbled": lambda data: b"\x00\xff" + data[2:],
    "of another kind": lambda data: data.replace(b'"wf.', b'"xx.', 1),
    "without a field": lambda data: data.replace(b'"body":{', b'"body":{"unknown":1,', 1),
}

TOO_NEW = b'{"format":"%b","version":999,"body":{}}'
FORMATS = {
    "run.json": b"wf.run_head",
    "environment.json": b"wf.run_environment",
    "checkpoints/000001.json": b"wf.run",
    "journal/000001.jsonl": b"wf.run_journal",
}


@pytest.fixture
async def runs(home: Path) -> RunStore:
    """A healthy run, and one to damage."""
    runs = open_stores(f"file://{home}").runs
    for run_id in (HEALTHY, DAMAGED):
        begun = record(run_id, trace_count=4)
        made = await runs.create(begun, environment(), checkpoint(begun), trace=trace(record(), 4))
        assert made.claim is not None
        await made.claim.release()
    return runs


async def read(runs: RunStore, document: str) -> None:
    """Read what needs the document."""
    if document == "environment.json":
        await runs.load_environment(DAMAGED)
    elif document.startswith("checkpoints"):
        await runs.load_checkpoint(DAMAGED)
    elif document.startswith("journal"):
        await runs.read_trace(DAMAGED, 0, 10)
    else:
        await runs.load(DAMAGED)


@pytest.mark.parametrize("document", FORMATS)
async def test_damage_is_told_by_name_and_the_file_is_left_alone(home: Path, runs: RunStore, document: str) -> None:
    path = home / "runs" / DAMAGED / document
    intact = path.read_bytes()
    for name, damage in DAMAGES.items():
        path.write_bytes(damage(intact))
        if path.read_bytes() != intact and not (document.startswith("journal") and name == "doubled"):
            with pytest.raises(StateCorrupt) as told:
                await read(runs, document)
            assert f"runs/{DAMAGED}/{document}" in told.value.message
            assert str(home) not in f"{told.value} {told.value.details}"
        assert path.read_bytes() == damage(intact)
        path.write_bytes(intact)
        await read(runs, document)


@pytest.mark.parametrize("document", FORMATS)
async def test_what_a_newer_version_wrote_is_told_as_such(home: Path, runs: RunStore, document: str) -> None:
    path = home / "runs" / DAMAGED / document
    newer = TOO_NEW % FORMATS[document] + b"\n"
    path.write_bytes(newer + path.read_bytes() if document.startswith("journal") else newer)
    with pytest.raises(FormatTooNew) as told:
        await read(runs, document)
    supported = {"run.json": 3, "environment.json": 2, "checkpoints/000001.json": VERSION, "journal/000001.jsonl": 3}
    assert (told.value.found, told.value.supported) == (999, supported[document])
    assert f"runs/{DAMAGED}/{document}" in told.value.message


@pytest.mark.parametrize("document", [name for name in FORMATS if name != "run.json"])
async def test_a_missing_document_is_damage(home: Path, runs: RunStore, document: str) -> None:
    (home / "runs" / DAMAGED / document).unlink()
    with pytest.raises(StateCorrupt, match="it is missing"):
        await read(runs, document)


async def test_a_folder_without_a_record_is_no_run(home: Path, runs: RunStore) -> None:
    (home / "runs" / DAMAGED / "run.json").unlink()
    with pytest.raises(RunNotFound):
        await runs.load(DAMAGED)
    with pytest.raises(RunNotFound):
        await runs.claim(DAMAGED)
    assert [run.run_id for run in (await runs.list_runs(principal=None, limit=10)).items] == [HEALTHY]


async def test_a_run_whose_record_is_damaged_is_listed_as_such_beside_the_others(home: Path, runs: RunStore) -> None:
    path = home / "runs" / DAMAGED / "run.json"
    path.write_bytes(path.read_bytes()[:100])
    page = await runs.list_runs(principal="local", limit=1)
    assert [run.run_id for run in page.items] == [HEALTHY]
    assert [(damaged.identifier, type(damaged.error)) for damaged in page.damaged] == [(DAMAGED, StateCorrupt)]
    assert page.next_cursor is None


async def test_a_damaged_run_can_be_neither_claimed_nor_deleted_nor_hold_a_lock(home: Path, runs: RunStore) -> None:
    path = home / "runs" / DAMAGED / "run.json"
    intact = path.read_bytes()
    path.write_bytes(intact[:100])
    for attempt in (runs.claim, runs.delete, runs.load):
        with pytest.raises(StateError):
            await attempt(DAMAGED)
    path.write_bytes(intact)
    async with await runs.claim(DAMAGED):
        pass


async def test_a_state_or_definition_that_was_exchanged_is_damage(home: Path, runs: RunStore) -> None:
    """A run never continues under other definitions than it started with."""
    folder = home / "runs" / DAMAGED
    document = json.loads((folder / "environment.json").read_bytes())
    document["body"]["deployment"]["bindings"] = {"files": "elsewhere"}
    (folder / "environment.json").write_bytes(resealed(json.dumps(document).encode()))
    with pytest.raises(StateCorrupt, match="not what the run was started with"):
        await runs.load_environment(DAMAGED)


async def test_the_files_of_another_run_are_damage(home: Path, runs: RunStore) -> None:
    for document in ("run.json", "journal/000001.jsonl"):
        path = home / "runs" / DAMAGED / document
        intact = path.read_bytes()
        path.write_bytes((home / "runs" / HEALTHY / document).read_bytes())
        with pytest.raises(StateCorrupt, match=f"it belongs to {HEALTHY}"):
            await read(runs, document)
        path.write_bytes(intact)


async def test_a_checkpoint_that_a_commit_replaces_meanwhile_is_read_again(home: Path, runs: RunStore) -> None:
    """The reader has seen the older record, and its checkpoint is gone when it looks."""
    folder = home / "runs" / DAMAGED
    earlier = (folder / "run.json").read_bytes()
    begun = await runs.load(DAMAGED)
    async with await runs.claim(DAMAGED) as claim:
        moved = following(begun)
        await runs.commit(claim, moved, checkpoint=checkpoint(moved, b'{"steps":1}'), trace=trace(begun))
    latest = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(earlier)
    with pytest.raises(StateCorrupt, match="it is missing"):
        await runs.load_checkpoint(DAMAGED)
    (folder / "run.json").write_bytes(latest)
    assert (await runs.load_checkpoint(DAMAGED)).state == b'{"steps":1}'


async def test_reading_the_end_of_a_long_trace_touches_little_of_it(
    home: Path, runs: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = await runs.load(DAMAGED)
    async with await runs.claim(DAMAGED) as claim:
        moved = following(begun, entries=50_000)
        await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 50_000))
    path = home / "runs" / DAMAGED / "journal" / "000001.jsonl"
    damaged = bytearray(path.read_bytes())
    size = len(damaged)
    # Whoever read through this would stumble.
    damaged[2_000 : size // 4] = b"#" * (size // 4 - 2_000)
    path.write_bytes(damaged)
    assert [entry["index"] for entry in await runs.read_trace(RunId(DAMAGED), 49_990, 5)] == [*range(49_990, 49_995)]
