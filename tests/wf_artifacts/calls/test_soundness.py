"""What is wrong with waiting calls and cached results in a database is named, and repaired without losing a byte."""

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.samples import NOW, start_and_release
from tests.wf_artifacts.samples import record as run
from tests.wf_artifacts.sessions.samples import begin_and_release, new_session_id, session
from wf_artifacts.calls.models import WAITING
from wf_artifacts.calls.rules import key_digest
from wf_artifacts.calls.sql import SqlCache, SqlContinuations
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.sessions.sql import SqlSessions
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.findings import Fault, Finding
from wf_core.errors import StateCorrupt

pytestmark = pytest.mark.anyio

SESSION = new_session_id()


@pytest.fixture
async def calls(database: Database) -> SqlContinuations:
    """Two calls of a session and one of a run."""
    sessions, runs = SqlSessions(database), SqlRuns(database)
    await begin_and_release(sessions, session(SESSION))
    await start_and_release(runs, run())
    sessions.close()
    runs.close()
    calls = SqlContinuations(database)
    for number in range(2):
        await calls.put(continuation(number, session_id=SESSION))
    await calls.put(continuation(2, session_id=run().run_id))
    await calls.deliver(token(1), delivery(), principal=None, now=NOW)
    return calls


@pytest.fixture
async def cache(database: Database) -> SqlCache:
    cache = SqlCache(database)
    for key in ("good", "bad"):
        await cache.put(key, key, now=NOW)
    return cache


def found(examine: Callable[[], Iterator[Fault]], *, repair: bool = False) -> list[tuple[str, str]]:
    faults = list(examine())
    for fault in faults:
        if repair and fault.mend is not None:
            fault.mend()
    return [(fault.finding.document, fault.finding.kind) for fault in faults]


def damage_call(database: Database, number: int) -> None:
    run_sql(
        database, "UPDATE wf_continuations SET document = :junk WHERE token = :token", junk=b"", token=token(number)
    )


async def test_a_call_that_cannot_be_read_is_named_refused_and_taken_away(
    database: Database, calls: SqlContinuations
) -> None:
    assert found(calls.faults) == []
    damage_call(database, 0)
    with pytest.raises(StateCorrupt, match=f"calls/{token(0)}"):
        await calls.deliver(token(0), delivery(), principal=None, now=NOW)
    page = await calls.list_open(principal="local", now=NOW, limit=10)
    assert ([one.identifier for one in page.damaged], [one.token for one in page.items]) == ([token(0)], [token(2)])
    told = await calls.deliveries([token(0), token(1)], now=NOW)
    assert [one.token for one in told] == [token(1)]
    assert found(calls.faults, repair=True) == [(f"calls/{token(0)}", "damaged")]
    assert run_sql(database, "SELECT token, document FROM wf_lost_continuations") == [(token(0), b"")]
    assert found(calls.faults) == []


async def test_a_call_whose_session_or_run_is_gone_is_taken_away(database: Database, calls: SqlContinuations) -> None:
    run_sql(database, "DELETE FROM wf_runs")
    (fault,) = calls.faults()
    problem = f"It belongs to {run().run_id}, which is gone."
    assert fault.finding == Finding(f"calls/{token(2)}", "leftover", problem, "Moves it to lost+found.")
    assert found(calls.faults, repair=True) == [(f"calls/{token(2)}", "leftover")]
    assert run_sql(database, "SELECT token FROM wf_lost_continuations") == [(token(2),)]
    assert await calls.deliver(token(2), delivery(), principal=None, now=NOW) == "unknown"
    assert found(calls.faults) == []


async def test_what_is_whole_by_now_is_left_alone(database: Database, calls: SqlContinuations) -> None:
    (before,) = run_sql(database, "SELECT document FROM wf_continuations WHERE token = :token", token=token(0))
    damage_call(database, 0)
    (fault,) = calls.faults()
    run_sql(
        database,
        "UPDATE wf_continuations SET document = :document WHERE token = :token",
        document=before[0],
        token=token(0),
    )
    assert fault.mend is not None
    fault.mend()
    assert found(calls.faults) == []
    assert run_sql(database, "SELECT * FROM wf_lost_continuations") == []


async def test_a_newer_call_is_left_to_the_version_that_wrote_it(database: Database, calls: SqlContinuations) -> None:
    stored = await calls.load(token(0), principal=None, now=NOW)
    newer = WAITING.encode(stored).replace(b'"version":2', b'"version":99', 1)
    run_sql(database, "UPDATE wf_continuations SET document = :newer WHERE token = :token", newer=newer, token=token(0))
    assert found(calls.faults, repair=True) == [(f"calls/{token(0)}", "newer")]
    assert found(calls.faults) == [(f"calls/{token(0)}", "newer")]


async def test_a_result_that_cannot_be_read_is_as_good_as_none_and_taken_away(
    database: Database, cache: SqlCache, caplog: pytest.LogCaptureFixture
) -> None:
    digest = key_digest("bad")
    run_sql(database, "UPDATE wf_cached_results SET document = :junk WHERE digest = :digest", junk=b"{", digest=digest)
    with caplog.at_level(logging.WARNING):
        assert await cache.get("bad") is None
    assert f"cache/{digest}" in caplog.text
    page = await cache.list_all(limit=10)
    assert ([one.result for one in page.items], len(page.damaged)) == (["good"], 1)
    assert found(cache.faults, repair=True) == [(f"cache/{digest}", "damaged")]
    assert run_sql(database, "SELECT digest, document FROM wf_lost_cached_results") == [(digest, b"{")]
    assert found(cache.faults) == []
    await cache.put("bad", "again", now=NOW)
    assert await cache.get("bad") == "again"


async def test_many_calls_are_all_looked_at(database: Database, calls: SqlContinuations) -> None:
    for number in range(3, 230):
        await calls.put(continuation(number, session_id=SESSION))
    run_sql(database, "UPDATE wf_continuations SET document = :junk", junk=b"")
    assert found(calls.faults) == [(f"calls/{token(number)}", "damaged") for number in range(230)]
