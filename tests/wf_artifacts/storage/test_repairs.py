"""How rows are looked through while others come and go, and what a repair takes away, and leaves.

What is examined of runs, of sessions and of calls is in the tests of each.
"""

from collections.abc import Sequence
from contextlib import closing

import pytest

from tests.wf_artifacts.databases import run_lawless_sql, run_sql
from wf_artifacts.errors import RunBusy, RunNotFound
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.fences import FencedClaim, FencedRows
from wf_artifacts.storage.owners import LEASE
from wf_artifacts.storage.repairs import Family, Tail, every_row

pytestmark = pytest.mark.anyio

SESSION = "sess_1"


def sessions(database: Database) -> Family[str]:
    return Family[str](
        database,
        "session",
        repair="Moves it.",
        keep=("keep_session", "keep_session_header"),
        delete=("delete_session_header",),
        orphans="orphaned_session_rows",
        tail=Tail("events", find="surplus_events", keep="keep_session_events", delete="delete_session_events"),
    )


@pytest.fixture
def family(database: Database) -> Family[str]:
    """The sessions of a database with one, of which two events are there and one counts."""
    text = "INSERT INTO wf_sessions (session_id, principal, status, position, fence, record)"
    run_sql(database, f"{text} VALUES (:id, :blob, 'ready', 1, 1, :blob)", id=SESSION, blob=b"")
    for number in (0, 1):
        event = "INSERT INTO wf_session_events (session, number, event) SELECT number, :event, :blob FROM wf_sessions"
        run_sql(database, event, event=number, blob=b"{}")
    return sessions(database)


def count(database: Database) -> list[int]:
    """Count the sessions and the events that are there, and those in lost+found."""
    tables = ("wf_sessions", "wf_session_events", "wf_lost_sessions", "wf_lost_session_events")
    return [run_sql(database, f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables]


def damaged(transaction: Transaction, identifier: str) -> None:
    raise corrupt(f"sessions/{identifier}", "it is torn")


def mend(family: Family[str], *, ended: bool = False) -> str | None:
    """Mend what is damaged, and give what is said of that."""
    [fault] = family.unreadable(SESSION, {"sessions": damaged}, ended=ended)
    if fault.mend is not None:
        fault.mend()
    return fault.finding.repair


def test_every_row_is_given_once_while_others_come_and_go(database: Database) -> None:
    there = [f"run_{number:03}" for number in range(250)]

    def fetch(transaction: Transaction, after: str, limit: int) -> Sequence[Row]:
        return [(name,) for name in there if name > after][:limit]

    seen: list[str] = []
    for (name,) in every_row(database, fetch, start=""):
        there.remove(name)
        seen.append(name)
    assert seen == [f"run_{number:03}" for number in range(250)]


def test_what_cannot_be_read_is_taken_away_whole(database: Database, family: Family[str]) -> None:
    assert mend(family) == "Moves it."
    assert count(database) == [0, 0, 1, 2]


def test_what_has_ended_stays(database: Database, family: Family[str]) -> None:
    assert mend(family, ended=True) is None
    assert count(database) == [1, 2, 0, 0]


def test_what_can_be_read_by_now_stays(database: Database, family: Family[str]) -> None:
    readable: list[str] = []

    def read(transaction: Transaction, identifier: str) -> None:
        if not readable:
            damaged(transaction, identifier)

    [fault] = family.unreadable(SESSION, {"sessions": read}, ended=False)
    readable.append(SESSION)
    assert fault.mend is not None
    fault.mend()
    assert count(database) == [1, 2, 0, 0]


async def test_what_somebody_has_claimed_stays(database: Database, family: Family[str]) -> None:
    def find(transaction: Transaction, name: str, identifier: str) -> Row:
        row = transaction.row(name, session_id=identifier)
        assert row is not None
        return row

    claims = FencedClaim[str]
    rows = FencedRows[str, FencedClaim[str]](
        database, LEASE, "session", claims=claims, find=find, busy=RunBusy, lost=RunNotFound
    )
    with closing(rows.owner):
        async with rows.claim(SESSION):
            mend(family)
            for fault in family.surplus(SESSION, "events"):
                assert fault.mend is not None
                fault.mend()
            assert count(database) == [1, 2, 0, 0]
        mend(family)
    assert count(database) == [0, 0, 1, 2]


def test_what_stands_behind_the_end_is_taken_away_alone(database: Database, family: Family[str]) -> None:
    [fault] = family.surplus(SESSION, "session_events/sess_1")
    assert fault.finding.problem == "It has 1 events behind its end that do not count."
    assert fault.mend is not None
    fault.mend()
    assert count(database) == [1, 1, 0, 1]
    assert not list(family.surplus(SESSION, "session_events/sess_1"))


def test_rows_that_belong_to_nothing_are_taken_away(database: Database, family: Family[str]) -> None:
    run_lawless_sql(database, "DELETE FROM wf_sessions")
    [fault] = family.orphans()
    assert (fault.finding.kind, fault.finding.problem) == ("orphaned", "There is no session of this number.")
    assert fault.mend is not None
    fault.mend()
    assert count(database) == [0, 0, 0, 2]
