"""What a store of waiting calls finds again, and how processes share it, held against every backend."""

import os
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from tests.wf_artifacts.calls.processes import PUT_BEFORE_A_KILL, RACERS, ROUNDS, TOKENS, processes
from tests.wf_artifacts.calls.samples import SESSION, continuation, deliver, delivery, listed, load, token
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import Waiting
from wf_artifacts.calls.store import ContinuationStore
from wf_artifacts.errors import InvalidCursor
from wf_artifacts.stores import open_stores

pytestmark = pytest.mark.anyio


class TestLists:
    async def test_deliveries_are_those_that_came_in_the_order_asked_for(self, calls: ContinuationStore) -> None:
        for number in range(5):
            await calls.put(continuation(number, expires_at=LATER if number == 3 else None))
        for number in (4, 0):
            await deliver(calls, number, content=number)
        await calls.close(token(2), now=NOW)
        asked = [token(number) for number in (3, 4, 9, 2, 1, 0)]
        told = await calls.deliveries(asked, now=LATER)
        assert [(one.token, one.state) for one in told] == [
            (token(3), "expired"),
            (token(4), "delivered"),
            (token(0), "delivered"),
        ]

    async def test_a_session_has_its_own_the_oldest_first(self, calls: ContinuationStore) -> None:
        await calls.put(continuation(0, created_at=LATER))
        await calls.put(continuation(1))
        await calls.put(continuation(2, session_id="sess_2"))
        await deliver(calls, 1)
        found = await calls.of_session(SESSION, now=NOW)
        assert [(one.token, one.state) for one in found] == [(token(1), "delivered"), (token(0), "open")]
        assert await calls.of_session("sess_9", now=NOW) == []

    async def test_a_deleted_session_leaves_nothing_behind(self, calls: ContinuationStore) -> None:
        for number in range(3):
            await calls.put(continuation(number, session_id="sess_2" if number == 2 else SESSION))
        await deliver(calls, 0)
        for _ in range(2):
            await calls.delete_of(SESSION)
        assert await deliver(calls, 0) == await deliver(calls, 1) == "unknown"
        assert await calls.of_session(SESSION, now=NOW) == []
        assert await listed(calls) == [token(2)]
        assert [one.token for one in (await calls.list_all(limit=10)).items] == [token(2)]
        assert (await calls.put(continuation(0))).state == "open"

    async def test_only_open_ones_are_listed_the_newest_first(self, calls: ContinuationStore) -> None:
        moments = [NOW + timedelta(seconds=second) for second in (3, 1, 2, 5, 4)]
        for number, moment in enumerate(moments):
            await calls.put(continuation(number, created_at=moment))
        await deliver(calls, 3)
        await calls.close(token(1), now=NOW)
        assert await listed(calls) == [token(4), token(0), token(2)]

    async def test_pages_meet_all_of_one_instant_once(self, calls: ContinuationStore) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(500):
                put = continuation(number, principal="other" if number % 5 == 0 else "local")
                tasks.start_soon(calls.put, put)
        met: list[str] = []
        cursor: str | None = None
        while True:
            page = await calls.list_open(principal="local", now=NOW, cursor=cursor, limit=30)
            met += [one.token for one in page.items]
            await deliver(calls, 499 - len(met))  # The list changes meanwhile.
            await calls.put(continuation(1000 + len(met)))
            cursor = page.next_cursor
            if cursor is None:
                break
        taken = {one.token for one in (await calls.list_all(limit=1000)).items if one.state == "delivered"}
        wanted = [token(number) for number in reversed(range(500)) if number % 5]
        assert len(met) == len(set(met))
        assert [one for one in wanted if one not in taken] == [one for one in met if one not in taken]

    async def test_all_are_listed_by_token_whatever_their_state(self, calls: ContinuationStore) -> None:
        for number in (2, 0, 1):
            await calls.put(continuation(number))
        await deliver(calls, 1)
        first = await calls.list_all(limit=2)
        rest = await calls.list_all(limit=2, cursor=first.next_cursor)
        assert [one.token for one in (*first.items, *rest.items)] == [token(0), token(1), token(2)]
        assert rest.next_cursor is None

    async def test_a_cursor_of_another_list_is_refused(self, calls: ContinuationStore) -> None:
        for number in range(2):
            await calls.put(continuation(number))
        of_all = (await calls.list_all(limit=1)).next_cursor
        of_open = (await calls.list_open(principal=None, now=NOW, limit=1)).next_cursor
        with pytest.raises(InvalidCursor):
            await calls.list_open(principal=None, now=NOW, cursor=of_all, limit=1)
        with pytest.raises(InvalidCursor):
            await calls.list_all(cursor=of_open, limit=1)


class TestRestoring:
    async def test_what_comes_from_another_store_is_as_it_was(self, calls: ContinuationStore) -> None:
        brought = [
            Waiting(continuation=continuation(0)),
            Waiting(continuation=continuation(1), state="delivered", delivery=delivery(), ended_at=NOW),
            Waiting(continuation=continuation(2), state="closed", ended_at=NOW),
        ]
        for waiting in brought:
            await calls.restore(waiting)
        assert list((await calls.list_all(limit=10)).items) == brought
        assert await calls.of_session(SESSION, now=NOW) == brought
        assert await listed(calls) == [token(0)]
        assert await deliver(calls, 1) == "already_completed"

    async def test_nothing_is_restored_over_what_there_is(self, calls: ContinuationStore) -> None:
        stored = await calls.put(continuation())
        with pytest.raises(ValueError, match="is taken"):
            await calls.restore(Waiting(continuation=continuation(), state="closed", ended_at=NOW))
        assert await load(calls) == stored


async def test_of_processes_that_deliver_at_once_one_is_applied_and_its_result_is_stored(shared: Shared) -> None:
    rounds = processes("deliveries", shared.url)
    assert len(rounds) == ROUNDS
    async with open_stores(shared.url) as stores:
        for number, answers in enumerate(rounds):
            assert sorted(answers) == ["already_completed"] * (RACERS - 1) + ["applied"]
            stored = await stores.continuations.load(token(number), principal=None, now=NOW)
            assert stored.delivery == delivery(answers.index("applied"))


async def test_of_many_deliveries_by_many_processes_none_is_lost(shared: Shared) -> None:
    answers = processes("shares", shared.url)
    assert answers == [["applied"] * (TOKENS // RACERS)] * RACERS
    async with open_stores(shared.url) as stores:
        told = await stores.continuations.deliveries([token(number) for number in range(TOKENS)], now=NOW)
        assert [one.delivery for one in told] == [delivery(number) for number in range(TOKENS)]
        assert (await stores.continuations.list_open(principal=None, now=NOW, limit=1)).items == ()
    assert shared.leftovers() == []


async def test_what_was_acknowledged_before_a_kill_is_there(shared: Shared) -> None:
    acknowledged = processes("kills", shared.url)
    async with open_stores(shared.url) as stores:
        for racer, at_least in acknowledged.items():
            numbers = range(int(racer) * PUT_BEFORE_A_KILL, (int(racer) + 1) * PUT_BEFORE_A_KILL)
            told = await stores.continuations.deliveries(map(token, numbers), now=NOW)
            assert len(told) >= at_least
            assert [one.delivery for one in told] == [delivery(number) for number in numbers[: len(told)]]


async def test_of_many_calls_a_list_reads_those_that_it_shows(
    memory_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_stores(f"file://{memory_folder}/home") as stores:
        calls = stores.continuations
        for number in range(300):
            await calls.put(continuation(number, session_id=f"sess_{number % 100}"))
            if number % 3:
                await calls.deliver(token(number), delivery(), principal=None, now=NOW)
        opened: list[str] = []
        original = os.open

        def watched(path: Path, *args: int, **options: int) -> int:
            opened.append(Path(path).name)
            return original(path, *args, **options)

        monkeypatch.setattr(os, "open", watched)
        assert len((await calls.list_open(principal="local", now=NOW, limit=5)).items) == 5
        assert len(opened) == 6
        opened.clear()
        assert len(await calls.of_session("sess_7", now=NOW)) == 3
        assert len(opened) == 3
