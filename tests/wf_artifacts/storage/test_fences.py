"""Claims on rows: one at a time, and nothing is written under one that was given back or is another's.

Leases that run out and processes that come back are in the tests of runs and of sessions.
"""

import threading
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.databases import run_sql
from wf_artifacts.errors import NotFound, RunBusy, RunNotFound, StoreError, StoreFull
from wf_artifacts.storage.connections import Row, WouldWait
from wf_artifacts.storage.database import DATABASE, Database, Transaction
from wf_artifacts.storage.fences import FIRST_FENCE, FencedClaim, FencedRows
from wf_artifacts.storage.owners import LEASE

pytestmark = pytest.mark.anyio

RUN = "run_1"


class Gone(StoreError):
    code = "run_not_found"

    def __init__(self, identifier: str) -> None:
        super().__init__(f"{identifier} is gone")


class Rows(FencedRows[str, FencedClaim[str]]):
    def __init__(self, database: Database) -> None:
        super().__init__(database, LEASE, "run", claims=FencedClaim[str], find=find, busy=RunBusy, lost=Gone)


def find(transaction: Transaction, name: str, identifier: str) -> Row:
    row = transaction.row(name, run_id=identifier)
    if row is None:
        raise RunNotFound(identifier)
    return row


@pytest.fixture
def rows(database: Database) -> Iterator[Rows]:
    """The rows of a database with one that nobody has claimed."""
    text = "INSERT INTO wf_runs (run_id, principal, deployment_id, status, record) VALUES (:id, :blob, 'd', 's', :blob)"
    run_sql(database, text, id=RUN, blob=b"")
    head = "INSERT INTO wf_run_heads (run, fence, trace_count, steps_executed, journal_bytes)"
    run_sql(database, f"{head} SELECT number, {FIRST_FENCE}, 0, 0, 0 FROM wf_runs")
    opened = Rows(database)
    yield opened
    opened.owner.close()


async def test_one_at_a_time_has_a_claim_and_each_has_a_fence_of_its_own(rows: Rows, open_database: Open) -> None:
    others = Rows(open_database())
    fences: list[object] = []
    for taker, other in ((rows, others), (others, rows)):
        async with taker.claim(RUN) as claim:
            fences.append(claim.place["fence"])
            assert other.is_claimed(RUN)
            with pytest.raises(RunBusy):
                other.claim(RUN)
        assert not other.is_claimed(RUN)
    assert fences == [FIRST_FENCE + 1, FIRST_FENCE + 2]
    others.owner.close()


def test_what_is_not_there_cannot_be_claimed(rows: Rows) -> None:
    with pytest.raises(NotFound):
        rows.claim("run_2")


async def test_nothing_is_written_under_a_claim_that_was_given_back(rows: Rows) -> None:
    claim = rows.claim(RUN)
    with rows.holding(claim):
        pass
    await claim.release()
    with pytest.raises(Gone), rows.holding(claim):
        pytest.fail("It was held.")


async def test_a_claim_is_given_back_once(rows: Rows) -> None:
    """The second time, somebody else may have it."""
    claim = rows.claim(RUN)
    await claim.release()
    async with rows.claim(RUN):
        await claim.release()
        assert rows.is_claimed(RUN)


async def test_what_was_given_up_while_the_disk_was_full_is_free_for_its_owner(
    rows: Rows, database: Database, open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be given back, and nobody is at it."""

    def full(**_: object) -> NoReturn:
        raise StoreFull(DATABASE, "no room")

    others = Rows(open_database())
    claim = rows.claim(RUN)
    with monkeypatch.context() as patched:
        patched.setattr(database, "writing", full)
        await claim.release()
    assert not rows.is_claimed(RUN)
    async with rows.claim(RUN) as again:
        with pytest.raises(Gone), rows.holding(claim):
            pytest.fail("It was held.")
        with rows.holding(again):
            assert others.is_claimed(RUN)
    assert not others.is_claimed(RUN)
    others.owner.close()


async def test_writes_under_one_claim_come_one_after_another(rows: Rows) -> None:
    order: list[str] = []

    def second() -> None:
        with rows.holding(claim):
            order.append("second")

    async with rows.claim(RUN) as claim:
        waiting = threading.Thread(target=second)
        with rows.holding(claim):
            waiting.start()
            with pytest.raises(WouldWait), rows.holding(claim, at_once=True):
                pytest.fail("Both were held.")
            waiting.join(0.05)
            order.append("first")
        waiting.join(5)
    assert order == ["first", "second"]
