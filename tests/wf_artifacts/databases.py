"""Databases without the stores in them, and what no store does to them."""

from pathlib import Path
from typing import Any

from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.postgres import POSTGRES, PostgresDatabase
from wf_artifacts.storage.sqlite import SQLITE, SqliteDatabase
from wf_artifacts.storage.statements import Statement


def database_at(url: str) -> Database:
    """Open the database of an address as `open_stores` does."""
    if url.startswith("sqlite:///"):
        return SqliteDatabase(Path(url.removeprefix("sqlite:///")))
    return PostgresDatabase(url)


def run_sql(database: Database, text: str, **parameters: Any) -> list[Row]:
    """Run a statement by hand."""
    dialect = SQLITE if isinstance(database, SqliteDatabase) else POSTGRES
    connection = database.connect()
    try:
        return connection.run(Statement(text, dialect).text(parameters), parameters).rows
    finally:
        connection.close()


def run_lawless_sql(database: Database, text: str, **parameters: Any) -> None:
    """Run a statement by hand, with what the database holds rows against switched off."""
    sqlite = isinstance(database, SqliteDatabase)
    connection = database.connect()
    try:
        connection.run("PRAGMA foreign_keys = OFF" if sqlite else "SET session_replication_role = replica")
        triggers: list[tuple[str, str]] = []
        if sqlite:
            connection.run("PRAGMA ignore_check_constraints = ON")
            triggers += connection.run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").rows
        for name, _ in triggers:
            connection.run(f"DROP TRIGGER {name}")
        connection.run(Statement(text, SQLITE if sqlite else POSTGRES).text(parameters), parameters)
        for _, made in triggers:
            connection.run(made)
    finally:
        connection.close()


def columns(database: Database, table: str) -> list[str]:
    """Give the names of the columns of a table, in order."""
    if isinstance(database, SqliteDatabase):
        return [row[1] for row in run_sql(database, f"PRAGMA table_info({table})")]
    text = "SELECT column_name FROM information_schema.columns WHERE table_name = :table ORDER BY ordinal_position"
    return [name for (name,) in run_sql(database, text, table=table)]


def end_leases(database: Database) -> None:
    """Let the time pass after which owners that did not renew their leases are believed to be gone."""
    run_sql(database, "UPDATE wf_owners SET expires_at = 0")
