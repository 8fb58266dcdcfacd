"""Every store on every backend."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.wf_artifacts.databases import database_at
from tests.wf_artifacts.postgres import PostgresServer, running
from tests.wf_artifacts.samples import Start, checkpoint, environment
from wf_artifacts.calls.store import CallCache, ContinuationStore
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.store import Claim, RunStore
from wf_artifacts.storage.database import Database
from wf_artifacts.stores import Stores, open_stores

_MEMORY = Path("/dev/shm")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that the first write makes."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with running() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The address of an empty PostgreSQL database."""
    postgres_server.empty()
    return postgres_server.url


@pytest.fixture
def sqlite(home: Path) -> str:
    """The address of a SQLite database that the first use makes."""
    return f"sqlite:///{home}/wf.db"


Open = Callable[[], Database]


@pytest.fixture(params=["sqlite", "postgres"])
def open_database(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open one empty database of each kind, as often as asked; all are closed at the end."""
    url: str = request.getfixturevalue(request.param)
    with ExitStack() as opened:

        def open_database() -> Database:
            database = database_at(url)
            opened.callback(database.close)
            return database

        yield open_database


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database()


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: what a killed process wrote stays, on disk or not."""
    if not _MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY) as name:
        yield Path(name)


@pytest.fixture
def memory() -> str:
    return "memory://"


@pytest.fixture
def file(home: Path) -> str:
    """The address of a folder that the first write makes."""
    return f"file://{home}"


@pytest.fixture(params=["memory", "file", "sqlite", "postgres"])
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    """Stores that keep nothing yet."""
    opened = open_stores(request.getfixturevalue(request.param))
    yield opened
    await opened.close()


@dataclass(frozen=True)
class Shared:
    """A store that processes share."""

    url: str
    leftovers: Callable[[], list[Path]]
    """Gives the files that have no business there once everybody has closed it."""
    end_leases: Callable[[], None]
    """Lets the time pass after which a process that ended is believed to be gone, where that is not seen at once."""


@pytest.fixture(params=["file", "sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, home: Path) -> Shared:
    url = request.getfixturevalue(request.param)
    match request.param:
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            return Shared(url, list, server.end_leases)
        case "sqlite":
            return Shared(url, lambda: [path for path in home.iterdir() if path.name != "wf.db"], lambda: None)
        case _:
            return Shared(url, lambda: [path for path in home.rglob("*") if path.name.endswith(".tmp")], lambda: None)


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


@pytest.fixture
def calls(stores: Stores) -> ContinuationStore:
    return stores.continuations


@pytest.fixture
def cache(stores: Stores) -> CallCache:
    return stores.cache


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
