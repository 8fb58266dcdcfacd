"""Processes that share waiting calls, and what waiting calls cost, held against every backend that they can share."""

import os
from pathlib import Path

import pytest

from tests.wf_artifacts.calls.processes import PUT_BEFORE_A_KILL, RACERS, ROUNDS, TOKENS, processes
from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import NOW
from wf_artifacts.stores import open_stores

pytestmark = pytest.mark.anyio


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
