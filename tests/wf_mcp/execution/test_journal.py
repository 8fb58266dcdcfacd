"""What of a run's inputs is stored, and when."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, node, opened, plan, start, stopped, watched
from wf_artifacts.errors import StoreFull
from wf_core.calls.contract import Contract, Hints
from wf_core.ids import RunId
from wf_core.jsonvalue import JsonValue
from wf_mcp.execution import journal

pytestmark = pytest.mark.anyio

READS = Contract(hints=Hints(read_only=True))
REPEATS = Contract(hints=Hints(idempotent=True))
ACTS = Contract()

CHAIN = plan({"a": node("ops.do", "b"), "b": node("ops.do", "c"), "c": node("ops.do")})
ALONE = plan({"a": node("ops.echo")})
TOGETHER = plan(
    {
        "each": {"type": "foreach", "over": "state.all", "as": "item", "mode": "concurrent",
                 "routes": {"loop": "do", "done": "__end__"}},
        "do": node("ops.echo"),
    },
    state_schema={"type": "object", "properties": {"all": {"type": "array", "default": [1, 2]}}},
)  # fmt: skip


def kinds(lines: list[bytes]) -> list[str]:
    """Name the inputs of a journal."""
    return [line.split(b'"kind":"', 1)[1].split(b'"', 1)[0].decode() for line in lines]


@pytest.fixture
def never_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written only because time has passed."""
    monkeypatch.setattr(journal, "BUFFERED_SECONDS", 60.0)


@pytest.mark.usefixtures("never_by_itself")
async def test_that_a_call_begins_which_may_not_be_repeated_is_on_disk_before_it_is_made() -> None:
    kept, store = watched()
    seen: list[list[str]] = []

    async def act(given: dict[str, Any]) -> JsonValue:
        assert not store.waits_for_disk
        seen.append(kinds(await store.load_journal(RunId(source.calls[-1][2].run_id))))
        return {}

    source = ScriptedSource(acts={"do": act})
    async with opened(source, stores=kept) as app:
        handle = await start(app, CHAIN)
        assert await stopped(app, handle) == "completed"
    begun, ended_and_next_begun = "next_work", "complete"
    assert seen == [[begun], [begun, ended_and_next_begun], [begun, ended_and_next_begun, ended_and_next_begun]]
    assert store.reasons == ["create", "synced", "synced", "synced", "completed"]


@pytest.mark.usefixtures("never_by_itself")
@pytest.mark.parametrize("contract", [READS, REPEATS])
async def test_a_call_that_may_be_repeated_waits_for_no_disk(contract: Contract) -> None:
    kept, store = watched()
    async with opened(ScriptedSource(acts={"do": echo}, contracts={"do": contract}), stores=kept) as app:
        handle = await start(app, CHAIN)
        assert await stopped(app, handle) == "completed"
    assert store.reasons == ["create", "completed"]


async def test_what_waits_is_written_soon_while_a_call_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "BUFFERED_SECONDS", 0.0)
    kept, store = watched()
    gate = Gate()
    source = ScriptedSource(acts={"echo": echo, "do": gate}, contracts={"echo": READS, "do": READS})
    async with opened(source, stores=kept) as app:
        handle = await start(app, plan({"a": node("ops.echo", "b"), "b": node("ops.do")}))
        with anyio.fail_after(5):
            await gate.entered.wait()
            await store.tried["appended"].wait()
            await anyio.wait_all_tasks_blocked()
        record = await store.load(handle.run_id)
        entries = await store.read_trace(handle.run_id, 0, 10)
    assert (record.status, record.trace_count) == ("running", 1)
    assert [entry["step_id"] for entry in entries] == ["a"]
    assert "running" not in store.reasons


async def test_a_journal_that_has_grown_past_its_bound_is_folded_into_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "LEAST_FOLDED_BYTES", 2_000)
    monkeypatch.setattr(journal, "STATES_TO_FOLD", 0)
    kept, store = watched()
    longest = 0

    async def act(given: dict[str, Any]) -> JsonValue:
        nonlocal longest
        longest = max(longest, sum(map(len, await store.load_journal(RunId(source.calls[-1][2].run_id)))))
        return {}

    source = ScriptedSource(acts={"do": act})

    steps = {f"s{n}": node("ops.do", f"s{n + 1}" if n < 39 else "__end__") for n in range(40)}
    async with opened(source, stores=kept) as app:
        handle = await start(app, plan(steps))
        assert await stopped(app, handle) == "completed"
        entries = await store.read_trace(handle.run_id, 0, 100)
    assert 1_000 < longest < 4_000
    assert 3 < store.reasons.count("running") < 30
    assert [entry["step_id"] for entry in entries] == list(steps)


async def test_a_run_of_a_deployment_that_asks_for_it_is_stored_at_its_stops_alone() -> None:
    kept, store = watched()
    async with opened(ScriptedSource(), stores=kept) as app:
        handle = await start(app, plan({"a": node("ops.echo", "b"), "b": node("ops.echo")}), durability="stops")
        assert await stopped(app, handle) == "completed"
    assert store.reasons == ["create", "completed"]


async def test_a_beginning_that_cannot_be_stored_keeps_the_call_from_being_made() -> None:
    kept, store = watched()
    source = ScriptedSource()
    async with opened(source, stores=kept) as app:
        store.refusals["synced"] = StoreFull("the run", "no space left")
        handle = await start(app, plan({"a": node("ops.echo")}))
        with pytest.raises(StoreFull):
            await app.runs.wait(handle, seconds=5)
        assert source.calls == []
        assert not await store.is_claimed(handle.run_id)
        store.refusals.clear()
        assert await stopped(app, await app.runs.take_over(handle.run_id)) == "completed"
    assert len(source.calls) == 1


@pytest.mark.parametrize("steps", [ALONE, TOGETHER], ids=["alone", "together"])
async def test_a_beginning_that_may_not_be_on_disk_keeps_calls_from_being_made(steps: dict[str, Any]) -> None:
    """What of it is stored nobody knows then, so they are in doubt afterwards."""
    kept, store = watched()
    source = ScriptedSource()
    async with opened(source, stores=kept) as app:
        store.refusals["on disk"] = StoreFull("the run", "no space left")
        handle = await start(app, steps)
        with pytest.raises(StoreFull):
            await app.runs.wait(handle, seconds=5)
        assert source.calls == []
        assert not await store.is_claimed(handle.run_id)
        store.refusals.clear()
        assert await stopped(app, await app.runs.take_over(handle.run_id)) == "interrupted"
    assert source.calls == []


async def test_what_was_not_written_yet_is_written_when_the_program_ends() -> None:
    kept, store = watched()
    gate = Gate()
    source = ScriptedSource(acts={"do": gate}, contracts={"do": READS})
    async with opened(source, stores=kept) as app:
        handle = await start(app, plan({"a": node("ops.do")}))
        with anyio.fail_after(5):
            await gate.entered.wait()
    assert kinds(await store.load_journal(handle.run_id)) == ["next_work"]
    assert not await store.is_claimed(handle.run_id)
