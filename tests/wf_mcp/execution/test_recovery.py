"""Going on with runs whose process is gone: nothing that ended is done again, and nothing is done twice in silence."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from tests.wf_mcp.loops import ask_or
from tests.wf_mcp.scripted import Gate, ScriptedSource, node, opened, plan, start, stopped, watched
from wf_artifacts.errors import RunBusy, StoreUnavailable
from wf_artifacts.runs.store import RunStore
from wf_artifacts.stores import Stores, open_stores
from wf_core.calls.contract import Contract, Hints
from wf_core.ids import RunId
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer
from wf_mcp.app import App
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import recovery
from wf_mcp.execution.recovery import keep_taking_over, take_over
from wf_mcp.execution.runs import Handle

pytestmark = pytest.mark.anyio

READS = Contract(hints=Hints(read_only=True))
REPEATS = Contract(hints=Hints(idempotent=True))
ACTS = Contract()

THREE = plan(
    {
        "first": node("ops.first", "second", output={"state.n": "n"}),
        "second": node("ops.do", "third"),
        "third": node("ops.echo", input={"n": {"path": "state.n"}}),
    },
    state_schema={"properties": {"n": {}}},
)


@pytest.fixture(params=["memory", "file", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    urls = {"memory": "memory://", "file": tmp_path.as_uri(), "sqlite": f"sqlite:///{tmp_path}/wf.db"}
    return open_stores(urls[request.param])


def source(contract: Contract, gate: Gate | None = None) -> ScriptedSource:
    """Offer three capabilities: the second is held in the middle, unless its gate is open."""

    async def first(given: dict[str, Any]) -> JsonValue:
        return {"n": 7}

    async def echo(given: dict[str, Any]) -> JsonValue:
        return given

    made = gate or Gate()
    if gate is None:
        made.opened.set()
    return ScriptedSource(acts={"first": first, "do": made, "echo": echo}, contracts={"do": contract})


async def left_behind(stores: Stores, contract: Contract, document: dict[str, Any] = THREE) -> RunId:
    """Start a run, and end its process in the middle of the call of `ops.do`."""
    gate = Gate()
    async with opened(source(contract, gate), stores=stores) as app:
        handle = await start(app, document)
        with anyio.fail_after(5):
            await gate.entered.wait()
    return handle.run_id


@pytest.mark.parametrize("contract", [READS, REPEATS], ids=["read-only", "idempotent"])
async def test_a_call_that_may_be_repeated_is_and_what_ended_is_not(stores: Stores, contract: Contract) -> None:
    run_id = await left_behind(stores, contract)
    again = source(contract)
    async with opened(again, stores=stores) as app:
        assert await stopped(app, await app.runs.take_over(run_id)) == "completed"
        entries = await stores.runs.read_trace(run_id, 0, 10)
    assert [(name, context.attempt) for name, _, context in again.calls] == [("do", 2), ("echo", 1)]
    assert again.calls[-1][1] == {"n": 7}
    assert [entry["step_id"] for entry in entries] == ["first", "second", "third"]


async def test_a_repeated_call_keeps_its_idempotency_key(stores: Stores) -> None:
    gate = Gate()
    before = source(REPEATS, gate)
    async with opened(before, stores=stores) as app:
        handle = await start(app, THREE)
        with anyio.fail_after(5):
            await gate.entered.wait()
    again = source(REPEATS)
    async with opened(again, stores=stores) as app:
        assert await stopped(app, await app.runs.take_over(handle.run_id)) == "completed"
    assert before.calls[-1][2].idempotency_key == again.calls[0][2].idempotency_key


async def test_a_call_that_may_not_be_repeated_is_in_doubt_and_stops_the_run(stores: Stores) -> None:
    run_id = await left_behind(stores, ACTS)
    again = source(ACTS)
    async with opened(again, stores=stores) as app:
        assert await stopped(app, await app.runs.take_over(run_id)) == "interrupted"
        record = await stores.runs.load(run_id)
        assert await stopped(app, await app.runs.take_over(run_id)) == "interrupted"
    [call] = record.pending_calls
    assert (call["id"], call["path"], call["capability"], call["arguments"]) == ("c2", ["second"], "ops.do", {})
    assert again.calls == []


async def test_a_run_that_somebody_holds_is_not_taken_over(stores: Stores) -> None:
    run_id = await left_behind(stores, READS)
    async with opened(source(READS), stores=stores) as app:
        async with await stores.runs.claim(run_id):
            with pytest.raises(RunBusy):
                await app.runs.take_over(run_id)
            assert await take_over(app.runs, [run_id]) == {}
        assert await stopped(app, await app.runs.take_over(run_id)) == "completed"


async def test_of_two_that_take_one_run_over_at_once_one_does(stores: Stores) -> None:
    run_id = await left_behind(stores, ACTS, plan({"a": node("ops.echo", "b"), "b": node("ops.do")}))
    first, second = source(ACTS), source(ACTS)
    lost: list[RunBusy] = []
    async with opened(first, stores=stores) as one, opened(second, stores=stores) as other:

        async def attempt(app: App) -> None:
            try:
                await app.runs.take_over(run_id)
            except RunBusy as busy:
                lost.append(busy)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(attempt, one)
                tasks.start_soon(attempt, other)
        for app in (one, other):
            await app.runs.wait(app.runs.handle(run_id), seconds=5)
        assert (await stores.runs.load(run_id)).status == "interrupted"
    assert len(lost) <= 1
    assert first.calls == second.calls == []


async def test_a_blocked_run_is_left_as_it_is_until_what_it_needs_is_back(stores: Stores) -> None:
    run_id = await left_behind(stores, READS)
    again = source(READS)
    again.enabled = False
    async with opened(again, stores=stores) as app:
        with pytest.raises(RunBlocked):
            await app.runs.take_over(run_id)
        assert (await stores.runs.load_checkpoint(run_id)).reason == "started"
        assert not await stores.runs.is_claimed(run_id)
        again.enabled = True
        assert await stopped(app, await app.runs.take_over(run_id)) == "completed"


async def test_a_question_that_opened_before_the_crash_is_answered_after_it(stores: Stores) -> None:
    gate = Gate()
    async with opened(source(READS, gate), stores=stores) as app:
        handle = await start(app, ask_or("ops.do"), {"items": ["ask", "do"]})
        with anyio.fail_after(5):
            await gate.entered.wait()
    async with opened(source(READS), stores=stores) as app:
        answered = await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_1"))
        assert await stopped(app, answered) == "completed"


async def test_a_fault_in_one_recovery_leaves_the_others_alone_and_is_reported() -> None:
    kept, store = watched()
    runs = [await left_behind(kept, READS) for _ in range(5)]
    fault = StoreUnavailable("the run", "the disk stumbled")
    async with opened(source(READS), stores=kept) as app:
        store.faults[runs[1]] = fault
        assert await take_over(app.runs, runs) == {runs[1]: fault}
        for run_id in runs:
            await app.runs.wait(app.runs.handle(run_id), seconds=5)
        assert [(await store.load(run_id)).status for run_id in runs].count("completed") == 4
        store.faults.clear()
        assert await take_over(app.runs, await store.abandoned()) == {}
        assert await stopped(app, app.runs.handle(runs[1])) == "completed"


class Looked:
    """A run store that says how often somebody has looked for abandoned runs."""

    def __init__(self, inner: RunStore, wanted: int) -> None:
        self._inner = inner
        self._left = wanted
        self.often = anyio.Event()

    async def abandoned(self) -> list[RunId]:
        self._left -= 1
        if self._left == 0:
            self.often.set()
        return await self._inner.abandoned()


@asynccontextmanager
async def looking_after(app: App, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[None]:
    monkeypatch.setattr(recovery, "FIRST_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(recovery, "LOOK_SECONDS", 0.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_taking_over, app.runs, store)
        yield
        tasks.cancel_scope.cancel()


async def test_a_server_takes_over_what_is_left_behind_at_its_start_and_later(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, store = watched()
    first = await left_behind(kept, READS)
    async with opened(source(READS), stores=kept) as app, looking_after(app, kept.runs, monkeypatch):
        with anyio.fail_after(5):
            await store.tried["completed"].wait()
        assert await stopped(app, app.runs.handle(first)) == "completed"
        store.tried.clear()
        second = await left_behind(kept, READS)
        with anyio.fail_after(5):
            await store.tried["completed"].wait()
        assert await stopped(app, app.runs.handle(second)) == "completed"


async def test_a_run_that_cannot_be_taken_over_is_not_tried_for_ever(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await left_behind(stores, READS)
    again, tried = source(READS), list[RunId]()
    again.enabled = False
    async with opened(again, stores=stores) as app:
        take = app.runs.take_over

        async def count(wanted: RunId) -> Handle:
            tried.append(wanted)
            return await take(wanted)

        monkeypatch.setattr(app.runs, "take_over", count)
        looked = Looked(stores.runs, recovery.MOST_ATTEMPTS + 3)
        async with looking_after(app, cast("RunStore", looked), monkeypatch):
            with anyio.fail_after(5):
                await looked.often.wait()
    assert tried == [run_id] * recovery.MOST_ATTEMPTS
