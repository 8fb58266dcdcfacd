"""Whatever byte of what is stored becomes another one, who reads it is told, and so is who examines the store."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.documents import plain
from tests.wf_artifacts.calls.samples import continuation, deliver, token
from tests.wf_artifacts.databases import columns, database_at, run_lawless_sql, run_sql
from tests.wf_artifacts.samples import NOW, checkpoint, deployment, environment, inputs, new_run_id, record, trace
from tests.wf_artifacts.samples import plan as plan_of
from tests.wf_artifacts.sessions.samples import begin_and_release, events, new_session_id, session
from wf_artifacts.storage.database import Database
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import StateError
from wf_core.ids import ArtifactId, DeploymentId

pytestmark = pytest.mark.anyio

NOTES, PUBLISH = ArtifactId("notes"), DeploymentId("publish")
RUN = record(new_run_id(1), trace_count=2, idempotency_key="k")
SESSION = session(new_session_id(1), status="waiting")
POLICY = {"rules": [{"tool": "files.*", "disposition": {"tag": "approve"}}]}

PLACES = 6
"""How many bytes of a document are tried."""

_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHERS = bytes.maketrans(_LETTERS, b"1234567890bcdefghijklmnopqrstuvwxyzaBCDEFGHIJKLMNOPQRSTUVWXYZA")


async def fill(stores: Stores) -> None:
    """Store something of every kind."""
    for name in ("first", "second", "third"):
        await stores.catalog.save_artifact(NOTES, plan_of(name), description="", required_capabilities=[], now=NOW)
    await stores.catalog.delete_artifact(NOTES, 2)
    policed = deployment().model_copy(update={"call_policy": POLICY})
    await stores.catalog.save_deployment(policed, replace=False)
    made = await stores.runs.create(RUN, environment(), checkpoint(RUN), trace=trace(record(), 2))
    assert made.claim is not None
    async with made.claim as claim:
        await stores.runs.append(claim, inputs(RUN, 2), sync=True)
    await begin_and_release(stores.sessions, SESSION, given=events(2))
    for number in range(2):
        await stores.continuations.put(continuation(number, session_id=SESSION.session_id))
    await deliver(stores.continuations, 1)
    await stores.cache.put("key", {"type": "text", "content": "x"}, now=NOW)


async def refused(stores: Stores) -> set[str]:
    """Read everything, and give the documents that readers refuse."""
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: stores.catalog.load_artifact(NOTES, 1),
        lambda: stores.catalog.load_artifact(NOTES, 3),
        lambda: stores.catalog.load_deployment(PUBLISH),
        lambda: stores.runs.load(RUN.run_id),
        lambda: stores.runs.load_environment(RUN.run_id),
        lambda: stores.runs.load_checkpoint(RUN.run_id),
        lambda: stores.runs.load_journal(RUN.run_id),
        lambda: stores.runs.read_trace(RUN.run_id, 0, 10),
        lambda: stores.runs.earlier(RUN),
        lambda: stores.sessions.load(SESSION.session_id),
        lambda: stores.continuations.load(token(0), principal=None, now=NOW),
        lambda: stores.continuations.load(token(1), principal=None, now=NOW),
    ]
    found: set[str] = set()
    for ask in asked:
        try:
            await ask()
        except StateError as error:
            found.add(named(error))
    # A result that cannot be read is as good as none.
    return found if await stores.cache.get("key") is not None else {*found, "cache"}


def named(error: StateError) -> str:
    document: str = error.details["document"]
    return document.removeprefix("stored document ")


async def examined(stores: Stores) -> set[str]:
    """Give the documents that an examination calls damaged, or a newer version's."""
    return {finding.document async for finding in stores.examine() if finding.kind in {"damaged", "newer"}}


def changes(data: bytes, name: str) -> Iterator[bytes]:
    """Change one byte at a time: mostly a letter or digit to another, which leaves most of it JSON."""
    random = Random(name)
    letters = [place for place, byte in enumerate(data) if byte in _LETTERS]
    for place in (*random.sample(letters, PLACES - 2), random.randrange(len(data)), len(data) - 1):
        byte = data[place : place + 1]
        other = byte.translate(_OTHERS)
        yield data[:place] + (bytes([byte[0] ^ 1]) if other == byte else other) + data[place + 1 :]


class TestFiles:
    @pytest.fixture
    async def stores(self, home: Path) -> AsyncIterator[Stores]:
        async with open_stores(f"file://{home}") as stores:
            await fill(stores)
            yield stores

    def documents(self, home: Path) -> dict[str, Path]:
        """Give every file that says something; an index says nothing of its own."""
        files = [path for path in home.rglob("*.json*") if path.is_file() and path.stat().st_size]
        return {path.relative_to(home).as_posix(): path for path in files}

    async def test_any_changed_byte_is_told_by_the_name_of_its_file(self, home: Path, stores: Stores) -> None:
        documents = self.documents(home)
        kinds = {name.split("/")[0] for name in documents}
        assert kinds == {"artifacts", "deployments", "runs", "keys", "sessions", "calls", "cache"}
        assert len(documents) == 16
        assert (await refused(stores), await examined(stores)) == (set(), set())
        for name, path in documents.items():
            intact = path.read_bytes()
            for changed in changes(intact, name):
                path.write_bytes(changed)
                assert await refused(stores) == {"cache" if name.startswith("cache/") else name}, changed
                assert name in await examined(stores), changed
            path.write_bytes(intact)

    async def test_a_document_that_lost_its_checksum_is_told(self, home: Path, stores: Stores) -> None:
        for name, path in self.documents(home).items():
            if name.endswith(".json") and "checkpoints" not in name and "header" not in name:
                intact = path.read_bytes()
                version = int(intact.partition(b'"version":')[2].partition(b",")[0])
                path.write_bytes(plain(intact, version))
                assert name in await examined(stores)
                path.write_bytes(intact)


class Column(NamedTuple):
    """Where documents are in a database."""

    table: str
    column: str
    row: str
    """How an error names a row begins so."""


DOCUMENTS = [
    Column("wf_versions", "document", "artifacts/"),
    Column("wf_deployments", "document", "deployments/"),
    Column("wf_runs", "record", "runs/"),
    Column("wf_environments", "document", "environments/"),
    Column("wf_checkpoints", "document", "checkpoints/"),
    Column("wf_checkpoints", "state", "checkpoints/"),
    Column("wf_inputs", "lines", "journal/"),
    Column("wf_trace", "entry", "trace/"),
    Column("wf_sessions", "record", "sessions/"),
    Column("wf_session_headers", "header", "session_headers/"),
    Column("wf_session_events", "event", "session_events/"),
    Column("wf_continuations", "document", "calls/"),
    Column("wf_cached_results", "document", "cache"),
]

TABLES = [*dict.fromkeys(where.table for where in DOCUMENTS), "wf_artifacts", "wf_run_heads"]
SAY_NOTHING = {
    ("wf_artifacts", "last_version"),  # a higher one leaves numbers out
    ("wf_inputs", "number"),  # SQLite itself holds it against run and position
    ("wf_run_heads", "fence"),
    ("wf_run_heads", "owner"),
    ("wf_runs", "number"),
    ("wf_sessions", "fence"),
    ("wf_sessions", "owner"),
    ("wf_sessions", "number"),
}
"""Columns that say nothing of what was stored: who has something, and numbers that the database gives."""


class TestRows:
    @pytest.fixture(params=["sqlite", "postgres"])
    def url(self, request: pytest.FixtureRequest) -> str:
        return request.getfixturevalue(request.param)

    @pytest.fixture
    async def stores(self, url: str) -> AsyncIterator[Stores]:
        async with open_stores(url) as stores:
            await fill(stores)
            yield stores

    @pytest.fixture
    def database(self, url: str, stores: Stores) -> Iterator[Database]:
        del stores  # they are filled first
        opened = database_at(url)
        yield opened
        opened.close()

    async def test_any_changed_byte_is_told_by_the_name_of_its_row(
        self, url: str, database: Database, stores: Stores
    ) -> None:
        most = PLACES if url.startswith("sqlite") else 1  # a server is asked as a file is, and takes longer
        assert (await refused(stores), await examined(stores)) == (set(), set())
        for table, column, row in DOCUMENTS:
            intact = newest(database, table, column)
            known = intact
            for changed in islice(changes(intact, f"{table}.{column}"), most):
                put(database, table, column, known, changed)
                known = changed
                told = await refused(stores)
                assert {one.startswith(row) for one in told} == {True}, changed
                assert any(one.startswith(row) for one in await examined(stores)), changed
            put(database, table, column, known, intact)

    async def test_every_column_agrees_with_what_was_stored(self, database: Database, stores: Stores) -> None:
        """Whoever looks something up looks at columns."""
        places = {(table, column) for table in TABLES for column in columns(database, table)}
        assert places | {("wf_inputs", "number")} > SAY_NOTHING
        for table, column in sorted(places - SAY_NOTHING):
            intact = newest(database, table, column)
            other = another(intact)
            put(database, table, column, intact, other)
            assert [finding async for finding in stores.examine()] != [], (table, column)
            put(database, table, column, other, intact)
        assert [finding async for finding in stores.examine()] == []


def newest(database: Database, table: str, column: str) -> Any:
    ((value,),) = run_sql(database, f"SELECT {column} FROM {table} ORDER BY {column} DESC NULLS LAST LIMIT 1")
    assert value is not None
    return value


def put(database: Database, table: str, column: str, known: Any, value: Any) -> None:
    text = f"UPDATE {table} SET {column} = :value WHERE {column} = :known"
    run_lawless_sql(database, text, value=value, known=known)


def another(value: Any) -> Any:
    """Give another value of the same type."""
    match value:
        case int():
            return value + 1
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1])
        case _:
            return f"{value}x"
