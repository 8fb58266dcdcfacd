"""Advancing one run: what is called when, and when it is stored."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.wf_mcp.scripted import Gate, ScriptedSource, failing, node, opened, plan, start, watched
from wf_artifacts.runs.models import RunRecord
from wf_core.calls.contract import Contract, Hints
from wf_core.jsonvalue import JsonValue
from wf_mcp.app import App
from wf_mcp.execution import advance

pytestmark = pytest.mark.anyio

EACH = {
    "each": {"type": "foreach", "over": "input.items", "as": "item", "mode": "concurrent", "max_active": 8,
             "routes": {"loop": "do", "done": "__end__"}},
    "do": node("ops.do", input={"item": {"path": "context.item"}}),
}  # fmt: skip
"""One call for each item, all at once."""


async def finished(app: App, document: dict[str, Any], given: JsonValue = None) -> RunRecord:
    handle = await start(app, document, given)
    with anyio.fail_after(10):
        await app.runs.wait(handle, seconds=10)
    return await app.stores.runs.load(handle.run_id)


async def test_steps_follow_each_other_to_the_end() -> None:
    async with opened(ScriptedSource()) as app:
        record = await finished(app, plan({"a": node("ops.echo", "b"), "b": node("ops.echo")}))
    assert (record.status, record.outcome, record.steps_executed, record.trace_count) == ("completed", "ok", 2, 2)


async def test_calls_that_are_ready_together_are_in_flight_together() -> None:
    """Each call waits for the other: one after the other they would never end."""
    both, entered = anyio.Event(), list[JsonValue]()

    async def meet(given: dict[str, Any]) -> JsonValue:
        entered.append(given["item"])
        if len(entered) == 2:
            both.set()
        await both.wait()
        return {}

    async with opened(ScriptedSource(acts={"do": meet})) as app:
        record = await finished(app, plan(EACH), {"items": ["a", "b"]})
    assert record.status == "completed"
    assert sorted(map(str, entered)) == ["a", "b"]


async def test_results_are_taken_in_the_order_in_which_they_come() -> None:
    gates = {"a": Gate(), "b": Gate()}
    noted = {"a": anyio.Event(), "b": anyio.Event()}

    async def act(given: dict[str, Any]) -> JsonValue:
        answer = await gates[given["item"]](given)
        noted[given["item"]].set()
        return answer

    async with opened(ScriptedSource(acts={"do": act})) as app:
        handle = await start(app, plan(EACH), {"items": ["a", "b"]})
        with anyio.fail_after(5):
            for name in ("b", "a"):
                await gates[name].entered.wait()
            for name in ("b", "a"):
                gates[name].opened.set()
                await noted[name].wait()
            await app.runs.wait(handle, seconds=5)
        entries = await app.stores.runs.read_trace(handle.run_id, 0, 10)
    assert [entry["input"]["item"] for entry in entries if entry["step_type"] == "node"] == ["b", "a"]


async def test_calls_that_a_failed_run_no_longer_needs_are_told_to_stop() -> None:
    gate = Gate()

    async def act(given: dict[str, Any]) -> JsonValue:
        if given["item"] == "slow":
            return await gate(given)
        await gate.entered.wait()
        return await failing()(given)

    async with opened(ScriptedSource(acts={"do": act})) as app:
        record = await finished(app, plan(EACH), {"items": ["slow", "bad"]})
        with anyio.fail_after(5):
            await gate.cancelled.wait()
    assert record.status == "failed"


async def test_a_failed_attempt_is_repeated_when_its_time_comes() -> None:
    attempts = 0

    async def shaky(given: dict[str, Any]) -> JsonValue:
        nonlocal attempts
        attempts += 1
        return {"attempts": attempts} if attempts == 3 else await failing()(given)

    source = ScriptedSource(acts={"do": shaky}, contracts={"do": Contract(hints=Hints(idempotent=True))})
    retry = {"max_attempts": 3, "initial_delay_seconds": 0.01}
    document = plan(
        {"a": node("ops.do", output={"state.n": "attempts"}, retry=retry)},
        state_schema={"properties": {"n": {}}},
        output={"n": {"path": "state.n"}},
    )
    async with opened(source) as app:
        record = await finished(app, document)
    assert record.output == {"n": 3}
    assert [context.attempt for _, _, context in source.calls] == [1, 2, 3]
    assert len({context.idempotency_key for _, _, context in source.calls}) == 1


async def test_a_wait_of_the_run_ends_by_itself() -> None:
    async with opened() as app:
        record = await finished(app, plan({"nap": node("wf.std.sleep", input={"seconds": {"value": 0.01}})}))
    assert record.status == "completed"


async def test_a_call_that_takes_too_long_fails_with_its_effects_unknown() -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate})) as app:
        record = await finished(app, plan({"a": node("ops.do", timeout_seconds=0.01)}))
    assert record.error is not None
    assert (record.error["code"], record.error["side_effects"]) == ("timeout", "unknown")
    assert gate.cancelled.is_set()


async def test_a_run_that_does_not_stop_is_stored_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "FIRST_STORED_AFTER_SECONDS", 0.01)
    gate = Gate()
    stores, runs = watched()
    async with opened(ScriptedSource(acts={"echo": gate, "do": Gate()}), stores=stores) as app:
        gate.opened.set()
        handle = await start(app, plan({"a": node("ops.echo", "b"), "b": node("ops.do")}))
        with anyio.fail_after(5):
            await runs.tried["running"].wait()
        record = await stores.runs.load(handle.run_id)
        entries = await stores.runs.read_trace(handle.run_id, 0, 10)
    assert record.status == "running"
    assert record.trace_count == 1
    assert [entry["step_id"] for entry in entries] == ["a"]


async def test_a_run_that_has_not_moved_is_not_stored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "FIRST_STORED_AFTER_SECONDS", 0.0)
    gate = Gate()
    stores, runs = watched()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, plan({"a": node("ops.do")}))
        with anyio.fail_after(5):
            await gate.entered.wait()
            await app.runs.wait(handle, seconds=0.05)
            gate.opened.set()
            await app.runs.wait(handle, seconds=5)
    assert runs.reasons.count("running") <= 1
    assert runs.reasons[-1] == "completed"


async def test_others_get_their_turn_during_a_long_chain_of_steps() -> None:
    """5,000 steps that need nobody outside, beside a task that wants the loop again and again."""
    turns = 0
    stop = anyio.Event()

    async def tick() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            await anyio.lowlevel.checkpoint()

    steps: dict[str, Any] = {
        f"s{number}": {"type": "join", "routes": {"ok": f"s{number + 1}"}} for number in range(5_000)
    }
    steps["s5000"] = {"type": "end"}
    async with opened() as app:
        handle = await start(app, plan(steps))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            with anyio.fail_after(20):
                await app.runs.wait(handle, seconds=20)
            stop.set()
        record = await app.stores.runs.load(handle.run_id)
    assert (record.status, record.steps_executed) == ("completed", 5_001)
    assert turns >= 5
