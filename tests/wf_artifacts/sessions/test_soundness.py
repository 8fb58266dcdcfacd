"""An examination of the sessions in a database names every row that cannot be read, and no other.

A repair moves what nobody can go on with to lost+found, whole, unless somebody has it.
"""

from collections.abc import Iterator

import pytest

from tests.wf_artifacts.databases import columns, run_lawless_sql, run_sql
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from tests.wf_artifacts.sessions.test_reading import BEGUN, DAMAGE, HEALTHY
from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.models import SESSION_RECORD
from wf_artifacts.sessions.sql import SqlSessions
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database

pytestmark = pytest.mark.anyio

TABLES = ("sessions", "session_headers", "session_events")


@pytest.fixture
def sessions(database: Database) -> Iterator[SqlSessions]:
    opened = SqlSessions(database)
    yield opened
    opened.close()


def found(sessions: SqlSessions) -> list[tuple[str, str]]:
    return [(fault.finding.kind, fault.finding.document) for fault in sessions.faults()]


def repair(sessions: SqlSessions) -> list[tuple[str, str]]:
    faults = list(sessions.faults())
    for fault in faults:
        if fault.mend is not None:
            fault.mend()
    return [(fault.finding.kind, fault.finding.document) for fault in faults]


def stored(database: Database, prefix: str = "wf") -> dict[str, list[Row]]:
    """Give every row of every session, but for who had it and how often."""
    kept = {table: run_sql(database, f"SELECT * FROM {prefix}_{table} ORDER BY 1, 2") for table in TABLES}
    return kept | {"sessions": [(*row[:5], row[7]) for row in kept["sessions"]]}


async def test_nothing_is_wrong_with_what_is_as_it_was_stored(sessions: SqlSessions) -> None:
    assert found(sessions) == []
    await begin_and_release(sessions, *(session(new_session_id(number)) for number in range(205)), given=events(2))
    assert found(sessions) == []


@pytest.mark.parametrize(("damage", "row"), DAMAGE)
async def test_an_open_session_that_nobody_can_go_on_with_is_moved_whole(
    database: Database, sessions: SqlSessions, damage: str, row: str
) -> None:
    await begin_and_release(sessions, BEGUN, given=events(3))
    run_sql(database, damage, junk=b"junk")
    lost = stored(database)
    await begin_and_release(sessions, HEALTHY, given=events(3))
    ((kind, document),) = found(sessions)
    assert (kind, document.startswith(f"{row}/{BEGUN.session_id}")) == ("damaged", True)
    assert repair(sessions) == [(kind, document)]
    assert found(sessions) == []
    assert stored(database, "wf_lost") == lost
    with pytest.raises(SessionNotFound):
        await sessions.load(BEGUN.session_id)
    assert (await sessions.load(HEALTHY.session_id)).events == events(3)


async def test_a_session_that_has_its_answer_stays(database: Database, sessions: SqlSessions) -> None:
    await begin_and_release(sessions, moved(BEGUN, 0, status="answered"), given=events(3))
    run_sql(database, "UPDATE wf_session_headers SET header = :junk", junk=b"junk")
    before = stored(database)
    assert [(fault.finding.kind, fault.finding.repair, fault.mend) for fault in sessions.faults()] == [
        ("damaged", None, None)
    ]
    assert repair(sessions) == [("damaged", f"session_headers/{BEGUN.session_id}")]
    assert stored(database) == before


async def test_one_of_a_newer_version_is_left_to_it(database: Database, sessions: SqlSessions) -> None:
    await begin_and_release(sessions, BEGUN, given=events(3))
    newer = SESSION_RECORD.encode(BEGUN).replace(b'"version":', b'"version":99', 1)
    run_sql(database, "UPDATE wf_sessions SET record = :newer", newer=newer)
    before = stored(database)
    assert repair(sessions) == [("newer", f"sessions/{BEGUN.session_id}")]
    assert stored(database) == before


async def test_a_session_that_somebody_has_is_not_repaired(database: Database, sessions: SqlSessions) -> None:
    await begin_and_release(sessions, BEGUN, given=events(3))
    run_sql(database, "UPDATE wf_session_headers SET header = :junk", junk=b"junk")
    others = SqlSessions(database)
    async with await others.claim(BEGUN.session_id):
        before = stored(database)
        assert repair(sessions) == [("damaged", f"session_headers/{BEGUN.session_id}")]
        assert stored(database) == before
    others.close()
    repair(sessions)
    assert stored(database)["sessions"] == []


async def test_a_session_that_is_whole_by_now_is_left_alone(database: Database, sessions: SqlSessions) -> None:
    await begin_and_release(sessions, BEGUN, given=events(3))
    run_sql(database, "UPDATE wf_session_headers SET header = :junk", junk=b"junk")
    (fault,) = sessions.faults()
    run_sql(database, "UPDATE wf_session_headers SET header = :header", header=HEADER)
    assert fault.mend is not None
    fault.mend()
    assert (await sessions.load(BEGUN.session_id)).header == HEADER


async def test_events_behind_the_end_are_moved_and_the_session_goes_on(
    database: Database, sessions: SqlSessions
) -> None:
    """Their numbers are those that it is about to give."""
    await begin_and_release(sessions, BEGUN, given=events(3))
    for number in (3, 7):
        copied = "SELECT session, :number, event, crc32 FROM wf_session_events WHERE number = 0"
        run_sql(database, f"INSERT INTO wf_session_events {copied}", number=number)
    assert (await sessions.load(BEGUN.session_id)).events == events(3)
    assert repair(sessions) == [("leftover", f"session_events/{BEGUN.session_id}")]
    assert found(sessions) == []
    assert [row[1] for row in run_sql(database, "SELECT * FROM wf_lost_session_events ORDER BY 2")] == [3, 7]
    async with await sessions.claim(BEGUN.session_id) as claim:
        await sessions.store(claim, moved(BEGUN), events(since=3))


async def test_rows_of_a_session_that_is_gone_are_moved(database: Database, sessions: SqlSessions) -> None:
    await begin_and_release(sessions, BEGUN, HEALTHY, given=events(3))
    whole = stored(database)
    run_lawless_sql(database, "DELETE FROM wf_sessions WHERE session_id = :one", one=BEGUN.session_id)
    ((kind, document),) = repair(sessions)
    assert (kind, document.rstrip("0123456789")) == ("orphaned", "rows of session number ")
    assert found(sessions) == []
    kept, lost = stored(database), stored(database, "wf_lost")
    assert {table: sorted(lost[table] + kept[table]) for table in TABLES[1:]} == {
        table: sorted(whole[table]) for table in TABLES[1:]
    }


@pytest.mark.parametrize("table", TABLES)
def test_what_is_kept_has_every_column_that_it_had(database: Database, table: str) -> None:
    """Whoever adds a column to a table adds it to its counterpart in lost+found."""
    assert columns(database, f"wf_lost_{table}") == columns(database, f"wf_{table}") != []
