"""Processes that share sessions, and what sessions cost, held against every backend that they can share."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.sessions.processes import RACERS, ROUNDS, processes
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.storage.steps import Step, observed
from wf_artifacts.stores import open_stores
from wf_core.ids import SessionId

pytestmark = pytest.mark.anyio

STORES = 1000


async def length(sessions: SessionStore, session_id: SessionId) -> int | None:
    """Give how many events a session has, None where it is not there; if it is, it is whole."""
    try:
        stored = await sessions.load(session_id)
    except SessionNotFound:
        return None
    assert stored.header == HEADER
    assert stored.events == events(stored.record.position)
    return stored.record.position


class TestRacing:
    async def test_of_eight_processes_one_holds_a_session_and_lets_go_when_it_ends(self, shared: Shared) -> None:
        rounds = processes("claims", shared.url)
        assert [(len(held), sum(held)) for held in rounds] == [(RACERS, 1)] * ROUNDS
        shared.end_leases()
        async with open_stores(shared.url) as stores:
            listed = await stores.sessions.list_sessions(principal=None, limit=100)
            assert await stores.sessions.abandoned() == [one.session_id for one in listed.items]
            assert len(listed.items) == ROUNDS
            for one in listed.items:
                async with await stores.sessions.claim(one.session_id):
                    pass

    async def test_of_eight_processes_with_one_id_one_creates(self, shared: Shared) -> None:
        rounds = processes("births", shared.url)
        assert [(len(made), sum(made)) for made in rounds] == [(RACERS, 1)] * 2
        async with open_stores(shared.url) as stores:
            assert len((await stores.sessions.list_sessions(principal=None, limit=100)).items) == 2
            assert [finding async for finding in stores.examine()] == []
        assert shared.leftovers() == []


class TestCrashing:
    @pytest.mark.parametrize("shared", ["postgres"], indirect=True)
    async def test_a_process_killed_at_any_moment_of_a_change_leaves_the_state_before_or_after(
        self, shared: Shared
    ) -> None:
        """Where a home can be copied, `sessions.crashes` does the same at each act of a longer story."""
        crashed: list[tuple[str, SessionId]] = processes("crashes", shared.url)
        shared.end_leases()
        ends = {"create": {None, 2}, "store": {2, 5}, "delete": {2, None}}
        found: dict[str, set[int | None]] = {name: set() for name in ends}
        async with open_stores(shared.url) as stores:
            for name, session_id in crashed:
                found[name].add(await length(stores.sessions, session_id))
            assert found == ends
            page = await stores.sessions.list_sessions(principal=None, limit=200)
            for one in page.items:
                async with await stores.sessions.claim(one.session_id) as claim:
                    await stores.sessions.store(claim, moved(one), events(since=one.position))
            assert (page.damaged, [finding async for finding in stores.examine()]) == ((), [])
        assert len(crashed) > 20

    async def test_a_process_killed_while_it_stores_loses_nothing_acknowledged(self, shared: Shared) -> None:
        killed: dict[SessionId, int] = processes("kills", shared.url)
        shared.end_leases()
        async with open_stores(shared.url) as stores:
            assert await stores.sessions.abandoned() == sorted(killed, reverse=True)
            for session_id, acknowledged in killed.items():
                found = await length(stores.sessions, session_id)
                assert found is not None
                assert found >= 3 * acknowledged
                async with await stores.sessions.claim(session_id) as claim:
                    record = await stores.sessions.load_record(session_id)
                    await stores.sessions.store(claim, moved(record), events(since=found))
                assert await length(stores.sessions, session_id) == found + 1
        assert shared.leftovers() == []


def beats() -> bool:
    """Tell whether this is the thread that renews the lease, whatever is stored."""
    return threading.current_thread().name == "wf-lease"


@contextmanager
def counted() -> Generator[list[str]]:
    """Count the changes that are made meanwhile."""
    acts: list[str] = []

    def observe(step: Step) -> None:
        if step.moment == "before" and not beats():
            acts.append(f"{step.act} {step.what}")

    with observed(observe):
        yield acts


def written() -> int:
    """Give how many bytes this process has handed to the system to be written."""
    lines = Path("/proc/self/io").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


class TestCosts:
    @pytest.mark.parametrize("kind", ["file", "sqlite"])
    async def test_what_a_store_writes_does_not_depend_on_the_events_before(
        self, memory_folder: Path, kind: str
    ) -> None:
        """Of 1,000 stores, the last hundred write what the first hundred write."""
        url = f"file://{memory_folder}" if kind == "file" else f"sqlite:///{memory_folder}/wf.db"
        record, costs, acts = session(), list[int](), list[list[str]]()
        async with open_stores(url) as stores, await stores.sessions.create(record, HEADER) as claim:
            for number in range(STORES):
                before = written()
                with counted() as made:
                    record = moved(record, 3, turns=number)
                    await stores.sessions.store(claim, record, events(3, since=3 * number))
                costs.append(written() - before)
                acts.append(made)
            assert len((await stores.sessions.load(record.session_id)).events) == 3 * STORES
        assert acts == [acts[0]] * STORES
        assert sum(costs[-100:]) < 1.5 * sum(costs[10:110])

    async def test_a_store_runs_the_same_statements_however_many_events_came_before(
        self, memory_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """None of them reads or changes what an earlier store wrote."""
        url = f"sqlite:///{memory_folder}/wf.db"
        ran: list[str] = []
        connect = sqlite3.connect

        def trace(text: str) -> None:
            if not beats():
                ran.append(text)

        def traced(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(trace)
            return connection

        monkeypatch.setattr(sqlite3, "connect", traced)
        record = session()
        counts: list[int] = []
        async with open_stores(url) as stores, await stores.sessions.create(record, HEADER) as claim:
            for number in range(200):
                ran.clear()
                record = moved(record)
                await stores.sessions.store(claim, record, events(since=number))
                counts.append(len(ran))
        assert set(counts[1:]) == {counts[1]}

    @pytest.mark.parametrize("kind", ["file", "sqlite"])
    async def test_loading_reads_what_there_is_once(self, memory_folder: Path, kind: str) -> None:
        """Twice the events, twice the bytes."""
        url = f"file://{memory_folder}" if kind == "file" else f"sqlite:///{memory_folder}/wf.db"
        sizes: list[int] = []
        for number, count in enumerate((20_000, 40_000)):
            begun = session(new_session_id(number))
            async with open_stores(url) as stores:
                await begin_and_release(stores.sessions, begun, given=events(count))
            async with open_stores(url) as stores:
                before = read()
                assert len((await stores.sessions.load(begun.session_id)).events) == count
                sizes.append(read() - before)
        assert 20_000 * len(events()[0]) < sizes[1] < 3 * sizes[0]


def read() -> int:
    """Give how many bytes this process was given by the system."""
    lines = Path(f"/proc/{os.getpid()}/io").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
