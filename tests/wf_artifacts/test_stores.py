"""Addresses of stores, and the documents that earlier versions wrote."""

import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import (
    artifact,
    checkpoint,
    deployment,
    environment,
    following,
    inputs,
    new_run_id,
    record,
)
from wf_artifacts.calls.models import CACHED, WAITING, CachedResult, Waiting
from wf_artifacts.catalog.files.tree import NUMBERS, Numbers
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT
from wf_artifacts.errors import DriverMissing, InvalidStoreUrl, StoreUnavailable
from wf_artifacts.runs.checkpoints import NamedCheckpoint
from wf_artifacts.runs.environment import ENVIRONMENT
from wf_artifacts.runs.files.folder import HEAD, Head
from wf_artifacts.runs.files.inputs import INPUTS_HEADER, InputsHeader
from wf_artifacts.runs.files.keys import KEY, Key
from wf_artifacts.runs.files.trace import SEGMENT_HEADER, Segment, SegmentHeader
from wf_artifacts.runs.models import RECORD
from wf_artifacts.runs.sql import CHECKPOINT
from wf_artifacts.sessions.files.folder import SESSION_HEAD, SessionHead
from wf_artifacts.sessions.models import SESSION_RECORD, SessionRecord
from wf_artifacts.stores import composite_sessions, open_stores
from wf_core.ids import DeploymentId, session_id

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent / "golden"
BEGUN = record(
    status="interrupted", interrupts=({"id": "int_1"},), trace_count=2, steps_executed=2, idempotency_key="k"
)
HEAD_OF_BEGUN = Head(
    record=BEGUN,
    checkpoint=NamedCheckpoint(sequence=1, reason="interrupted", digest="sha256:01", created_at=BEGUN.created_at),
    environment_digest="sha256:02",
    segment=Segment(number=1, first=0, length=300, plain=1),
)
SESSION = SessionRecord.model_validate(
    {
        "session_id": session_id(BEGUN.created_at, 1),
        "principal": "local",
        "agent": "helper",
        "status": "waiting",
        "answer": "so far",
        "error": {"code": "model_unavailable"},
        "turns": 2,
        "position": 5,
        "auto": True,
        "pending": [
            {"call_id": "t2.0", "name": "fetch", "capability": "web.fetch", "state": "deferred", "token": "call_1"}
        ],
        "parent": {"kind": "run", "id": BEGUN.run_id},
        "created_at": BEGUN.created_at,
        "updated_at": BEGUN.updated_at,
    }
)
WAITS = Waiting(
    continuation=continuation(
        provider_call_id="toolu_1",
        reason="external worker",
        disposition={"tag": "defer"},
        cache_key="k",
        context={"session_id": "sess_1"},
        expires_at=BEGUN.created_at,
    ),
    state="delivered",
    delivery=delivery(),
    ended_at=BEGUN.created_at,
)
DOCUMENTS: list[tuple[Any, Any]] = [
    (ARTIFACT, artifact()),
    (DEPLOYMENT, deployment()),
    (NUMBERS, Numbers(last=3, deleted_through=1)),
    (ENVIRONMENT, environment()),
    (RECORD, BEGUN),
    (HEAD, HEAD_OF_BEGUN),
    (SEGMENT_HEADER, SegmentHeader(run_id=BEGUN.run_id, first=0)),
    (INPUTS_HEADER, InputsHeader(run_id=BEGUN.run_id, checkpoint=1)),
    (CHECKPOINT, HEAD_OF_BEGUN.checkpoint),
    (SESSION_RECORD, SESSION),
    (WAITING, WAITS),
    (CACHED, CachedResult(key="k", result={"type": "text", "content": "x"}, created_at=BEGUN.created_at)),
    (SESSION_HEAD, SessionHead(record=SESSION, header_digest="sha256:03", events_bytes=400, plain_bytes=400)),
    (KEY, Key(principal="local", deployment_id=DeploymentId("publish"), key="k", run_id=BEGUN.run_id)),
]
FORMATS = {written.name: written for written, _ in DOCUMENTS}
MEANT = {written.name: record for written, record in DOCUMENTS}


@pytest.mark.parametrize("file", sorted(path.name for path in GOLDEN.iterdir()))
def test_documents_of_every_version_are_read_as_they_were_meant(file: str) -> None:
    """Golden files: a new version adds one and leaves the others alone."""
    name = file.rpartition("_")[0]
    assert FORMATS[name].decode((GOLDEN / file).read_bytes(), "golden") == MEANT[name]


@pytest.mark.parametrize("name", FORMATS)
def test_documents_are_written_as_their_version_writes_them(name: str) -> None:
    """A change of what is written is a new version."""
    golden = GOLDEN / f"{name}_v{FORMATS[name].version}.json"
    assert FORMATS[name].encode(MEANT[name]) == golden.read_bytes()


async def test_a_file_address_leads_to_a_folder_that_the_first_write_makes(tmp_path: Path) -> None:
    stores = open_stores(f"file://{tmp_path}/a%20home")
    assert (await stores.runs.list_runs(principal=None, limit=1)).items == ()
    assert names(tmp_path) == []
    await stores.catalog.save_artifact(
        artifact().artifact_id, {}, description="", required_capabilities=[], now=artifact().created_at
    )
    assert names(tmp_path) == ["a home"]
    await stores.close()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("address", ["sqlite:///a%20home/wf.db", "sqlite:///{folder}/a%20home/wf.db"])
async def test_a_sqlite_address_leads_to_a_file_that_the_first_use_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    stores = open_stores(address.format(folder=tmp_path))
    assert names(tmp_path) == []
    assert (await stores.runs.list_runs(principal=None, limit=1)).items == ()
    await stores.close()
    assert names(tmp_path / "a home") == ["wf.db"]


async def test_two_stores_of_one_address_see_the_same(shared: Shared) -> None:
    first, second = (open_stores(shared.url) for _ in range(2))
    saved = await first.catalog.save_artifact(
        artifact().artifact_id, {}, description="", required_capabilities=[], now=artifact().created_at
    )
    assert await second.catalog.load_artifact(saved.artifact_id) == saved
    for stores in (first, second, second):
        await stores.close()


async def test_several_stores_of_sessions_are_used_as_one() -> None:
    target, other = open_stores("memory://").sessions, open_stores("memory://").sessions
    await (await other.create(SESSION.model_copy(update={"position": 0}), b"{}")).release()
    both = composite_sessions(target, other)
    await (await both.claim(SESSION.session_id)).release()
    assert await target.load(SESSION.session_id) == await both.load(SESSION.session_id)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
async def test_a_postgres_address_is_not_connected_to_before_the_first_use(scheme: str) -> None:
    stores = open_stores(f"{scheme}://wf@nowhere.invalid/wf")
    await stores.close()


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wf_artifacts.storage.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DriverMissing) as told:
        open_stores("postgresql://wf:s3cret@host/wf")
    assert told.value.code == "store_unavailable"
    assert "wf-mcp[postgres]" in str(told.value)
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "memory:///x",
        "/home/x",
        "file://host/x",
        "file:x",
        "file:///x?y",
        "file:///x#y",
        "mysql://wf:s3cret@x/wf",
        "file://",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://wf:s3cret@host/x",
        "sqlite:///x?mode=ro",
        "postgresql://wf:s3cret@[::1/wf",
        "postgresql://wf:s3cret@host/wf?no_such_setting=1",
    ],
)
def test_any_other_address_is_refused_and_never_repeated(url: str) -> None:
    with pytest.raises(InvalidStoreUrl) as refused:
        open_stores(url)
    assert "s3cret" not in f"{refused.value} {refused.value.details} {refused.value.__cause__}"


def move_away(folder: Path) -> None:
    folder.rename(folder.with_name("away"))


@pytest.mark.parametrize("backend", ["file", "sqlite"])
@pytest.mark.parametrize("go_away", [shutil.rmtree, move_away])
async def test_nothing_is_acknowledged_once_the_home_went_away(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    backend: str,
    go_away: Callable[[Path], object],
) -> None:
    """Whoever heard "done" would lose it with the process, or with the next restart."""
    monkeypatch.setattr("wf_artifacts.storage.places.LATELY_SECONDS", 0.0)
    begun = record()
    async with open_stores(request.getfixturevalue(backend)) as stores:
        claim = (await stores.runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        await stores.runs.append(claim, inputs(begun, 1), sync=True)
        go_away(home)
        moved, another = following(begun, entries=0), record(new_run_id(5))
        acts: list[Callable[[], Awaitable[object]]] = [
            lambda: stores.runs.append(claim, inputs(begun, 1, since=1), sync=True),
            lambda: stores.runs.append(claim, inputs(begun, 1, since=1), sync=False),
            lambda: stores.runs.commit(claim, moved, checkpoint=checkpoint(moved)),
            lambda: stores.runs.create(another, environment(), checkpoint(another)),
            lambda: stores.runs.load(begun.run_id),
            lambda: stores.sessions.create(SESSION.model_copy(update={"position": 0}), b"{}"),
            lambda: stores.catalog.restore_artifact(artifact().artifact_id, [artifact()], last=1),
            lambda: stores.continuations.put(continuation()),
            lambda: stores.cache.put("key", 1, now=BEGUN.created_at),
        ]
        for act in acts:
            with pytest.raises(StoreUnavailable):
                await act()
        await claim.release()
    assert "home" not in names(home.parent)
