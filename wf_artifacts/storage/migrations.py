"""Brings the schema of a database to the version that this code works with.

`wf_schema` holds one number: how many migrations were applied.
"""

from collections.abc import Sequence

from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.steps import step
from wf_core.errors import FormatTooNew


def migrate(connection: Connection, migrations: Sequence[Sequence[str]]) -> None:
    """Apply the migrations that the database lacks. In a transaction that excludes every other migration.

    Raises:
        FormatTooNew: a newer version has applied more than these; nothing was changed.
    """
    connection.run("CREATE TABLE IF NOT EXISTS wf_schema (version INTEGER NOT NULL)")
    rows = connection.run("SELECT version FROM wf_schema").rows
    if not rows:
        connection.run("INSERT INTO wf_schema VALUES (0)")
    found: int = rows[0][0] if rows else 0
    if found > len(migrations):
        raise FormatTooNew(document="database", found=found, supported=len(migrations))
    for migration in migrations[found:]:
        with step("change", "schema"):
            for statement in migration:
                connection.run(statement)
            connection.run("UPDATE wf_schema SET version = version + 1")
