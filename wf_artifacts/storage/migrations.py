"""Brings the schema of a database to the version that this code works with.

`wf_schema` holds one number: how many migrations were applied.
"""

from collections.abc import Sequence

from wf_artifacts.storage.connections import Connection, Misunderstood
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.steps import step
from wf_core.errors import FormatTooNew, StateCorrupt


def migrate(connection: Connection, migrations: Sequence[Sequence[str]]) -> None:
    """Apply the migrations that the database lacks. In a transaction that excludes every other migration.

    Raises:
        FormatTooNew: a newer version has applied more than these; nothing was changed.
        StateCorrupt: it does not say how many were applied, or its tables are those of another number; the transaction
            is to come to nothing.
    """
    connection.run("CREATE TABLE IF NOT EXISTS wf_schema (version INTEGER NOT NULL)")
    rows = connection.run("SELECT version FROM wf_schema").rows
    if not rows:
        connection.run("INSERT INTO wf_schema VALUES (0)")
    found = rows[0][0] if rows else 0
    if len(rows) > 1 or not isinstance(found, int) or found < 0:
        raise _damaged(f"it holds {', '.join(repr(number) for (number,) in rows)}, which is no number of a schema")
    if found > len(migrations):
        raise FormatTooNew(document="database", found=found, supported=len(migrations))
    for migration in migrations[found:]:
        with step("change", "schema"):
            try:
                for statement in migration:
                    connection.run(statement)
            except Misunderstood as error:
                says = f"it says {found}" if rows else "it has lost its row"
                raise _damaged(f"{says}, and the tables are those of another number ({error.reason})") from error
            connection.run("UPDATE wf_schema SET version = version + 1")


def _damaged(reason: str) -> StateCorrupt:
    return corrupt("wf_schema", reason)
