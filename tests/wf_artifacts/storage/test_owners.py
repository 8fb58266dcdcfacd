"""Leases: renewed while claims are held, given up at the end, removed when they ran out or their owner died."""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from tests.wf_artifacts.conftest import Open
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.owners import Lease, Owner, bury
from wf_artifacts.storage.sqlite import SqliteDatabase

QUICK = Lease(duration=timedelta(minutes=1), heartbeat=timedelta(milliseconds=5))
SLOW = Lease(duration=timedelta(minutes=1), heartbeat=timedelta(minutes=1))
OVER = Lease(duration=timedelta(0), heartbeat=timedelta(minutes=1))


@contextmanager
def owning(database: Database, lease: Lease) -> Generator[Owner]:
    """Hold one claim by a lease."""
    owner = Owner(database, lease)
    owner.appear()
    with database.writing() as transaction:
        owner.renew(transaction)
    owner.hold()
    try:
        yield owner
    finally:
        owner.close()


def leases(database: Database) -> dict[str, bool]:
    """Give the owners that have a lease, and for each whether it has run out."""
    with database.reading() as transaction:
        return {owner: bool(expired) for owner, expired in transaction.rows("leases")}


def test_an_owner_is_seen_until_it_closes(database: Database, open_database: Open) -> None:
    other = open_database()
    with owning(database, SLOW) as owner:
        assert leases(other) == {owner.name: False}
        assert not other.has_died(owner.name)
    assert leases(other) == {}


def test_a_lease_that_is_not_renewed_runs_out(database: Database) -> None:
    with owning(database, OVER) as owner:
        assert leases(database) == {owner.name: True}


def test_a_clock_that_is_set_ends_no_lease(open_database: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    database = open_database()
    with owning(database, SLOW) as owner:
        later = time.time_ns() + 3600 * 10**9
        monkeypatch.setattr(time, "time_ns", lambda: later)
        assert leases(database) == {owner.name: False}


def test_a_lease_is_renewed_while_a_claim_is_held(database: Database) -> None:
    with owning(database, QUICK) as owner:
        with database.writing() as transaction:
            transaction.change("forget_owner", owner=owner.name)
        while owner.name not in leases(database):
            pass


def test_leases_that_ran_out_are_buried_and_others_are_left(database: Database, open_database: Open) -> None:
    with owning(database, SLOW) as alive, owning(open_database(), OVER):
        bury(database)
        assert leases(database) == {alive.name: False}


def test_a_claim_that_cannot_be_given_back_now_is_given_back_later(database: Database) -> None:
    done = Event()

    def give_back(_: Transaction) -> None:
        done.set()

    def refuse(_: Transaction) -> None:
        raise StoreUnavailable("the database", "it does not answer")

    attempts = iter([refuse, refuse, give_back])

    def attempt(transaction: Transaction) -> None:
        next(attempts)(transaction)

    with owning(database, QUICK) as owner:
        owner.release((1, 1), attempt)
        assert not done.is_set()
        assert done.wait(timeout=5)


ENDS_AT_ONCE = """
import os, sys
from pathlib import Path
from tests.wf_artifacts.storage.test_owners import SLOW, owning
from wf_artifacts.storage.sqlite import SqliteDatabase

with owning(SqliteDatabase(Path(sys.argv[1])), SLOW) as owner:
    print(owner.name, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_a_process_that_ended_is_known_to_have_died_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wf.db"
    ended = subprocess.run([sys.executable, "-c", ENDS_AT_ONCE, path], capture_output=True, text=True, check=False)
    owner = ended.stdout.strip()
    database = SqliteDatabase(path)
    assert leases(database) == {owner: False}
    assert database.has_died(owner)
    bury(database)
    assert leases(database) == {}
    with owning(database, SLOW):
        assert not list(tmp_path.glob(f"*{owner}"))
    database.close()


@pytest.mark.parametrize("owner", ["", "nobody"])
def test_only_who_was_seen_can_have_died(open_database: Open, owner: str) -> None:
    database = open_database()
    assert database.has_died(owner) == isinstance(database, SqliteDatabase)
