"""A PostgreSQL server of the tests' own, which nothing but this test session uses."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

_PACKAGED = Path("/usr/lib/postgresql")
_USER = "postgres"
"""The account that the server runs under where the tests run as root: it refuses to be root."""

_PART_OF_THE_SCHEMA = {"wf_schema", "wf_locks"}


class PostgresServer:
    """A running server, reached through a socket in its folder."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._data = folder / "data"
        self._account: dict[str, Any] = {"user": _USER, "group": _USER, "extra_groups": []} if os.getuid() == 0 else {}

    @property
    def url(self) -> str:
        return f"postgresql://wf@/postgres?host={quote(str(self._folder), safe='')}"

    def make(self) -> None:
        """Make an empty cluster. Only this is not synced: what the server acknowledges later is."""
        if self._account:
            os.chown(self._folder, pwd.getpwnam(_USER).pw_uid, -1)
        self._run("initdb", "--username=wf", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")

    def start(self) -> None:
        """Start the server. It gathers statistics unasked of nothing, so that no plan of it depends on the moment."""
        settings = f"-c listen_addresses='' -c unix_socket_directories='{self._folder}' -c autovacuum=off"
        self._run("pg_ctl", "start", "--wait", f"--log={self._folder}/log", f"--options={settings}")

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate")

    def empty(self) -> None:
        """Forget every row that was stored; the schema stays, because making it takes long."""
        with psycopg.connect(self.url) as connection:
            connection.execute("SET session_replication_role = replica")
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in found.fetchall():
                if table not in _PART_OF_THE_SCHEMA:
                    connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))

    def end_leases(self) -> None:
        """Let every process that claimed something be believed to be gone."""
        with psycopg.connect(self.url) as connection:
            connection.execute("UPDATE wf_owners SET expires_at = 0")

    def forget_schema(self) -> None:
        """Be as new."""
        with psycopg.connect(self.url) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), f"--pgdata={self._data}", *arguments]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=50, **self._account
        )


@contextmanager
def running() -> Generator[PostgresServer]:
    """Run a server. Skips where none is installed, unless this is CI, which must not skip it."""
    programs = find_programs()
    if programs is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("the programs of PostgreSQL are not installed")
    # Not in pytest's folder: the path of a socket is at most 107 bytes long.
    with tempfile.TemporaryDirectory(prefix="wf-postgres-") as folder:
        server = PostgresServer(Path(folder), programs)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()


def find_programs() -> Path | None:
    """Give the folder with the programs of the newest server that is installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    packaged = sorted(_PACKAGED.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return packaged[-1].parent if packaged else None
