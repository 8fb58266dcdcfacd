"""Rows that are damaged: each is named, and left alone; whatever does not need it is there."""

from typing import Any

import pytest

from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.sessions.models import SESSION_RECORD, StoredSession
from wf_artifacts.sessions.sql import SqlSessions
from wf_artifacts.storage.database import Database
from wf_core.errors import FormatTooNew, StateCorrupt, StateError

pytestmark = pytest.mark.anyio

BEGUN = session(new_session_id(1), status="waiting", position=3)
HEALTHY = session(new_session_id(2), position=3)
RECORD = SESSION_RECORD.encode(BEGUN)
THE_ONE = "(SELECT MIN(number) FROM wf_sessions)"
ANOTHER = "(SELECT event FROM wf_session_events ORDER BY number DESC LIMIT 1)"
DAMAGE = [
    (f"UPDATE wf_sessions SET record = :junk WHERE number = {THE_ONE}", "sessions"),
    (f"UPDATE wf_session_headers SET header = :junk WHERE session = {THE_ONE}", "session_headers"),
    (f"DELETE FROM wf_session_headers WHERE session = {THE_ONE}", "session_headers"),
    (f"UPDATE wf_session_events SET event = :junk WHERE session = {THE_ONE} AND number = 1", "session_events"),
    (f"UPDATE wf_session_events SET event = {ANOTHER} WHERE session = {THE_ONE} AND number = 1", "session_events"),
    (f"UPDATE wf_session_events SET crc32 = 7 WHERE session = {THE_ONE} AND number = 1", "session_events"),
    (f"DELETE FROM wf_session_events WHERE session = {THE_ONE} AND number = 1", "session_events"),
    (f"DELETE FROM wf_session_events WHERE session = {THE_ONE}", "session_events"),
]


@pytest.fixture
async def sessions(database: Database) -> Any:
    opened = SqlSessions(database)
    await begin_and_release(opened, BEGUN, HEALTHY, given=events(3))
    yield opened
    opened.close()


def rows(database: Database) -> list[Any]:
    tables = ("wf_sessions", "wf_session_headers", "wf_session_events")
    return [run_sql(database, f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


@pytest.mark.parametrize(("damage", "row"), DAMAGE)
async def test_a_damaged_row_is_named_and_left_alone(
    database: Database, sessions: SqlSessions, damage: str, row: str
) -> None:
    run_sql(database, damage, junk=b"junk")
    before = rows(database)
    with pytest.raises(StateCorrupt) as told:
        await sessions.load(BEGUN.session_id)
    assert told.value.details["document"].startswith(f"{row}/{BEGUN.session_id}")
    page = await sessions.list_sessions(principal="local", limit=10)
    damaged = [BEGUN.session_id] if row == "sessions" else []
    assert [one.identifier for one in page.damaged] == damaged
    assert [one.session_id for one in page.items] == [HEALTHY.session_id, BEGUN.session_id][: 2 - len(damaged)]
    assert await sessions.load(HEALTHY.session_id) == StoredSession(HEALTHY, HEADER, events(3))
    assert rows(database) == before


async def test_events_from_before_there_were_checksums_are_read_and_followed(
    database: Database, sessions: SqlSessions
) -> None:
    run_sql(database, "UPDATE wf_session_events SET crc32 = NULL")
    assert (await sessions.load(BEGUN.session_id)).events == events(3)
    async with await sessions.claim(BEGUN.session_id) as claim:
        await sessions.store(claim, moved(BEGUN), events(since=3))
    assert (await sessions.load(BEGUN.session_id)).events == events(4)
    assert list(sessions.faults()) == []
    run_sql(database, "UPDATE wf_session_events SET event = :other WHERE number = 3", other=b'{"n":3,"kind":"began"}')
    with pytest.raises(StateCorrupt, match="is not what was written"):
        await sessions.load(BEGUN.session_id)


DOCUMENTS: list[tuple[bytes, type[StateError]]] = [
    (b"", StateCorrupt),
    (RECORD[:-9], StateCorrupt),
    (b"\xef\xbb\xbf" + RECORD, StateCorrupt),
    (RECORD + RECORD, StateCorrupt),
    (RECORD.replace(b'"turns":', b'"surprise":1,"turns":'), StateCorrupt),
    (RECORD.replace(b'"turns":0', b'"turns":"0"'), StateCorrupt),
    (RECORD.replace(b'"position":3', b'"position":4'), StateCorrupt),
    (RECORD.replace(b'"waiting"', b'"answered"'), StateCorrupt),
    (RECORD.replace(b'"local"', b'"other"'), StateCorrupt),
    (SESSION_RECORD.encode(HEALTHY), StateCorrupt),
    (RECORD.replace(b'"version":2', b'"version":3'), FormatTooNew),
]


@pytest.mark.parametrize(("document", "kind"), DOCUMENTS)
async def test_a_record_that_was_changed_by_hand_is_refused(
    database: Database, sessions: SqlSessions, document: bytes, kind: type[StateError]
) -> None:
    assert document != RECORD
    run_sql(database, f"UPDATE wf_sessions SET record = :document WHERE number = {THE_ONE}", document=document)
    before = rows(database)
    for read in (sessions.load, sessions.load_record):
        with pytest.raises(kind, match=f"sessions/{BEGUN.session_id}"):
            await read(BEGUN.session_id)
    async with await sessions.claim(BEGUN.session_id) as claim:
        with pytest.raises(kind):
            await sessions.store(claim, BEGUN, [])
    assert rows(database)[1:] == before[1:]
    assert run_sql(database, f"SELECT record FROM wf_sessions WHERE number = {THE_ONE}") == [(document,)]
    await sessions.delete(BEGUN.session_id)


async def test_what_cannot_be_read_is_not_taken_for_abandoned(database: Database, sessions: SqlSessions) -> None:
    run_sql(database, "UPDATE wf_sessions SET status = 'running'")
    assert await sessions.abandoned() == []
