"""Which runs a list shows, without reading those that it does not show.

The index only proposes: whoever lists runs reads each one that it names, and decides by what run.json says. So it may
name too many, never too few. A run is entered under its new status before it changes, and that is on disk; when the
change is done, its older status is taken out, which may be lost. In between, and after a crash, it is *unsettled*: it
stands under both, until `settle` looks at the run itself.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Final

from wf_artifacts.errors import StoreError
from wf_artifacts.runs.files.folder import Found
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.derived import DerivedDatabase, Statements
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.statements import Value
from wf_core.errors import WfError
from wf_core.ids import DeploymentId, RunId
from wf_core.state import RunStatus

_VERSION: Final = 1
SCHEMA: Final = (
    """CREATE TABLE runs (run_id TEXT, status TEXT, principal TEXT, deployment_id TEXT, PRIMARY KEY (run_id, status))
    WITHOUT ROWID""",
    "CREATE TABLE unsettled (run_id TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE unreadable (run_id TEXT PRIMARY KEY) WITHOUT ROWID",
    # One for each combination of what a list is asked for, so that it never passes over runs.
    "CREATE INDEX by_principal ON runs (principal, run_id)",
    "CREATE INDEX by_status ON runs (status, run_id)",
    "CREATE INDEX by_deployment ON runs (deployment_id, run_id)",
    "CREATE INDEX by_principal_status ON runs (principal, status, run_id)",
    "CREATE INDEX by_principal_deployment ON runs (principal, deployment_id, run_id)",
    "CREATE INDEX by_deployment_status ON runs (deployment_id, status, run_id)",
    "CREATE INDEX by_all ON runs (principal, deployment_id, status, run_id)",
)
_ENTER: Final = "INSERT OR IGNORE INTO runs VALUES (:run_id, :status, :principal, :deployment_id)"
_UNSETTLE: Final = "INSERT OR IGNORE INTO unsettled VALUES (:run_id)"
_SETTLE: Final = "DELETE FROM unsettled WHERE run_id = :run_id"
_KEEP_STATUS: Final = "DELETE FROM runs WHERE run_id = :run_id AND status <> :status"
_FORGET: Final = "DELETE FROM runs WHERE run_id = :run_id"
_READABLE: Final = "DELETE FROM unreadable WHERE run_id = :run_id"
_UNREADABLE: Final = "INSERT OR IGNORE INTO unreadable VALUES (:run_id)"
_UNSETTLED: Final = "SELECT run_id FROM unsettled"
_IS_UNREADABLE: Final = "SELECT run_id FROM unreadable WHERE run_id = :run_id"
_IS_KNOWN: Final = """SELECT run_id FROM unreadable WHERE run_id = :run_id
    UNION SELECT run_id FROM runs WHERE run_id = :run_id"""
_IS_ENTERED: Final = """SELECT run_id FROM runs
    WHERE run_id = :run_id AND status = :status AND principal = :principal AND deployment_id = :deployment_id"""
_BATCH: Final = 64


class RunIndex:
    """The index of the runs of a home."""

    def __init__(self, home: Home, survey: Callable[[], Iterable[tuple[RunId, Found]]]) -> None:
        """`survey` looks at every run, for an index that is made anew."""
        self._survey = survey
        folder = home.root / "index"
        self._database = DerivedDatabase(home, folder, version=_VERSION, schema=SCHEMA, fill=self._fill)

    def becoming(self, record: RunRecord) -> AbstractContextManager[None]:
        """Hold this while a run is made, or its status becomes that of `record`."""
        row = _row(record)
        return self._database.changing(
            before=[(_UNSETTLE, {"run_id": record.run_id}), (_ENTER, row)], after=_settled(record.run_id, record)
        )

    def vanishing(self, run_id: RunId) -> AbstractContextManager[None]:
        """Hold this while a run is deleted."""
        return self._database.changing(before=[(_UNSETTLE, {"run_id": run_id})], after=_settled(run_id, None))

    def newest(
        self,
        *,
        principal: str | None = None,
        status: RunStatus | None = None,
        deployment_id: DeploymentId | None = None,
        below: RunId | None = None,
    ) -> Iterator[RunId]:
        """Give the runs that may be meant, the newest first, from the one after `below` on. None means any."""
        given = {"principal": principal, "status": status, "deployment_id": deployment_id}
        filters: dict[str, Value] = {name: value for name, value in given.items() if value is not None}
        while True:
            place: dict[str, Value] = {} if below is None else {"below": below}
            rows = self._database.rows(list_statement(filters.keys(), place.keys()), filters | place)
            for (found,) in rows:
                below = RunId(found)
                yield below
            if len(rows) < _BATCH:
                return

    def settle(self, look: Callable[[RunId], Found]) -> None:
        """Look at the runs that are unsettled, unless somebody is changing one at this moment.

        Nobody changes the status of a run, makes one or removes one while `look` is called.
        """
        unsettled = self.unsettled()
        if not unsettled:
            return
        with self._database.alone() as alone:
            for run_id in unsettled if alone else ():
                with suppress(StoreError):
                    self._database.settle(_settled(run_id, look(run_id)))

    def proposes(self, run_id: RunId, found: RunRecord | WfError) -> bool:
        """Tell whether every list that a run may belong to, as it was found, names it."""
        if isinstance(found, RunRecord) and self._database.rows(_IS_ENTERED, _row(found)):
            return True
        known = _IS_UNREADABLE if isinstance(found, RunRecord) else _IS_KNOWN
        return bool(self._database.rows(known, {"run_id": run_id}))

    def alone(self) -> AbstractContextManager[bool]:
        """Tell whether nobody makes, removes or changes the status of a run; then nobody does until the block ends."""
        return self._database.alone()

    def unsettled(self) -> set[RunId]:
        """Give the runs that somebody is changing, or was when a crash came."""
        return {RunId(run_id) for (run_id,) in self._database.rows(_UNSETTLED)}

    def make_anew(self) -> None:
        """Make it anew from the runs that there are."""
        self._database.make_anew()

    def close(self) -> None:
        """Close the files of the index."""
        self._database.close()

    def _fill(self, connection: Connection) -> None:
        for run_id, found in self._survey():
            for text, parameters in _settled(run_id, found):
                connection.run(text, parameters)


def list_statement(filters: Iterable[str], place: Iterable[str]) -> str:
    """Write the statement that lists the newest runs by these columns. A run that cannot be read may be any."""
    below = ["run_id < :below" for _ in place]
    known = _where([*(f"{name} = :{name}" for name in filters), *below])
    return (
        f"SELECT run_id FROM runs{known} UNION SELECT run_id FROM unreadable{_where(below)} "  # noqa: S608
        f"ORDER BY run_id DESC LIMIT {_BATCH}"
    )


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _settled(run_id: RunId, found: Found) -> Statements:
    """Give what enters a run as it was found."""
    key: dict[str, Value] = {"run_id": run_id}
    match found:
        case None:
            return [(_FORGET, key), (_READABLE, key), (_SETTLE, key)]
        case RunRecord():
            row = _row(found)
            return [(_ENTER, row), (_KEEP_STATUS, row), (_READABLE, key), (_SETTLE, key)]
        case WfError():
            return [(_UNREADABLE, key), (_SETTLE, key)]


def _row(record: RunRecord) -> dict[str, Value]:
    return {
        "run_id": record.run_id,
        "status": record.status,
        "principal": record.principal,
        "deployment_id": record.deployment_id,
    }
