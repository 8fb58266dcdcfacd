"""Claims in a database: leases that run out, fences that refuse late writes, processes that come back."""

import signal
import sys
from collections.abc import Iterator

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.databases import database_at, end_leases, run_sql
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, session
from wf_artifacts.errors import SessionBusy, SessionClaimLost
from wf_artifacts.sessions.models import StoredSession
from wf_artifacts.sessions.sql import SqlSessions
from wf_artifacts.storage.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def sessions(database: Database) -> Iterator[SqlSessions]:
    opened = SqlSessions(database)
    yield opened
    opened.close()


@pytest.fixture
def others(open_database: Open) -> Iterator[SqlSessions]:
    """The same sessions, as another process sees them."""
    opened = SqlSessions(open_database())
    yield opened
    opened.close()


async def test_a_claim_passes_on_when_its_lease_ran_out_and_late_writes_are_refused(
    database: Database, sessions: SqlSessions, others: SqlSessions
) -> None:
    begun = session()
    old = await sessions.create(begun, HEADER)
    with pytest.raises(SessionBusy):
        await others.claim(begun.session_id)
    end_leases(database)
    new = await others.claim(begun.session_id)
    for sync in (True, False):
        with pytest.raises(SessionClaimLost):
            await sessions.store(old, moved(begun), events(), sync=sync)
    await old.release()
    assert await sessions.is_claimed(begun.session_id)
    await others.store(new, moved(begun), events())
    assert await sessions.load(begun.session_id) == StoredSession(moved(begun), HEADER, events())
    await new.release()


async def test_an_owner_that_comes_back_keeps_what_nobody_took(
    database: Database, sessions: SqlSessions, others: SqlSessions
) -> None:
    begun = session(status="running")
    claim = await sessions.create(begun, HEADER)
    end_leases(database)
    assert await others.abandoned() == [begun.session_id]
    await sessions.store(claim, moved(begun), events())
    await claim.release()
    assert (await others.load(begun.session_id)).events == events()


async def test_every_claim_has_a_fence_of_its_own(
    database: Database, sessions: SqlSessions, others: SqlSessions
) -> None:
    begun = session()
    await begin_and_release(sessions, begun)
    fences: list[int] = []
    for store in (sessions, others, sessions):
        async with await store.claim(begun.session_id):
            fences += run_sql(database, "SELECT fence FROM wf_sessions")[0]
    assert fences == [2, 3, 4]


async def test_a_session_may_be_deleted_under_an_owner_that_is_gone(
    database: Database, sessions: SqlSessions, others: SqlSessions
) -> None:
    begun = session()
    old = await sessions.create(begun, HEADER)
    with pytest.raises(SessionBusy):
        await others.delete(begun.session_id)
    end_leases(database)
    await others.delete(begun.session_id)
    with pytest.raises(SessionClaimLost):
        await sessions.store(old, moved(begun), events())
    await old.release()


async def test_what_a_closed_store_held_is_free_at_once(sessions: SqlSessions, others: SqlSessions) -> None:
    begun = session(status="running")
    await sessions.create(begun, HEADER)
    sessions.close()
    assert await others.abandoned() == [begun.session_id]
    async with await others.claim(begun.session_id):
        pass


@pytest.mark.parametrize("url", ["sqlite", "postgres"])
async def test_a_process_that_was_stopped_comes_back_too_late(url: str, request: pytest.FixtureRequest) -> None:
    address: str = request.getfixturevalue(url)
    database = database_at(address)
    sessions = SqlSessions(database)
    begun = session()
    await begin_and_release(sessions, begun)
    command = [sys.executable, "-m", "tests.wf_artifacts.sessions.holder", address]
    async with await anyio.open_process(command, stderr=None) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        said = BufferedByteReceiveStream(holder.stdout)
        assert await said.receive_until(b"\n", 20) == b"held"
        holder.send_signal(signal.SIGSTOP)
        with anyio.fail_after(20):
            while await sessions.is_claimed(begun.session_id):
                pass
        claim = await sessions.claim(begun.session_id)
        holder.send_signal(signal.SIGCONT)
        await holder.stdin.send(b"write\n")
        assert await said.receive_until(b"\n", 20) == b"lost"
    assert await sessions.load(begun.session_id) == StoredSession(begun, HEADER, [])
    await claim.release()
    sessions.close()
    database.close()
