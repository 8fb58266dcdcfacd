"""Databases of both kinds, without the stores in them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.wf_artifacts.postgres import PostgresServer
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.postgres import PostgresDatabase
from wf_artifacts.storage.sqlite import SqliteDatabase

Open = Callable[[], Database]


@pytest.fixture(params=["sqlite", "postgres"])
def open_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open one empty database, as often as asked; all are closed at the end."""
    make: Open
    if request.param == "sqlite":
        make = lambda: SqliteDatabase(tmp_path / "wf.db")  # noqa: E731
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        server.forget_schema()
        make = lambda: PostgresDatabase(server.url)  # noqa: E731
    with ExitStack() as opened:

        def open_database() -> Database:
            database = make()
            opened.callback(database.close)
            return database

        yield open_database


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database()
