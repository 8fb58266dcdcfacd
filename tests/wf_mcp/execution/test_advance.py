"""Advancing one run: what is called when, and when it is stored."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.wf_mcp.scripted import (
    Gate,
    ScriptedSource,
    ask,
    echo,
    failing,
    node,
    opened,
    plan,
    start,
    stopped,
    watched,
)
from wf_artifacts.errors import StoreFull
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.stores import Stores
from wf_core.calls.contract import Contract, Hints
from wf_core.errors import (
    AmbiguousInterrupt,
    InvalidResumeOutcome,
    InvalidResumePayload,
    StaleInterrupt,
    WfError,
)
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer
from wf_mcp.app import App
from wf_mcp.execution import journal
from wf_mcp.execution.runs import Handle

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


async def test_a_call_whose_item_has_failed_without_it_is_told_to_stop_and_the_run_goes_on() -> None:
    gate = Gate()

    async def act(given: dict[str, Any]) -> JsonValue:
        if given["item"] == "slow":
            return await gate(given)
        await gate.entered.wait()
        return await failing()(given)

    each: dict[str, Any] = {"type": "foreach", "over": "input.items", "as": "item", "mode": "concurrent"}
    inner = plan(EACH, input_schema={"properties": {"items": {"type": "array"}}})
    outer = plan(
        {
            "once": {**each, "on_item_error": "skip", "routes": {"loop": "both", "done": "after"}},
            "both": {"type": "subgraph", "workflow": {"plan": inner}, "input": {"items": {"path": "context.item"}},
                     "routes": {"ok": "__end__"}},
            "after": node("ops.echo"),
        },
    )  # fmt: skip
    async with opened(ScriptedSource(acts={"do": act, "echo": echo})) as app:
        record = await finished(app, outer, {"items": [["slow", "bad"]]})
    assert record.status == "completed"
    assert gate.cancelled.is_set()


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


# Answers while other steps of the run go on


async def test_an_answer_is_taken_and_its_item_goes_on_while_other_items_execute(stores: Stores) -> None:
    gate, noted = Gate(), Gate()
    async with opened(ScriptedSource(acts={"do": gate, "note": noted}), stores=stores) as app:
        handle = await asking(app, gate)
        answered = await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_1"))
        with anyio.fail_after(5):
            await noted.entered.wait()
        assert not gate.opened.is_set()
        record = await stores.runs.load(handle.run_id)
        assert (record.status, [asked["id"] for asked in record.interrupts]) == ("running", ["int_2"])
        noted.opened.set()
        gate.opened.set()
        assert await stopped(app, answered) == "interrupted"
        answered = await app.runs.answer(handle.run_id, Answer({}))
        assert await stopped(app, answered) == "completed"


async def test_an_answer_to_a_run_under_way_is_stored_before_it_is_acknowledged() -> None:
    kept, store = watched()
    store.holds["answered"] = anyio.Event()
    gate, noted, heard = Gate(), Gate(), anyio.Event()
    async with opened(ScriptedSource(acts={"do": gate, "note": noted}), stores=kept) as app:
        handle = await asking(app, gate)

        async def answer() -> None:
            await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_2"))
            heard.set()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(answer)
                await store.tried["answered"].wait()
                await anyio.wait_all_tasks_blocked()
                assert not heard.is_set()
                assert not noted.entered.is_set()
                store.holds["answered"].set()
        assert heard.is_set()


async def test_answers_that_come_at_once_are_all_taken_and_stored_together() -> None:
    kept, store = watched()
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate, "note": Gate()}), stores=kept) as app:
        handle = await asking(app, gate)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for interrupt_id in ("int_2", "int_1"):
                    tasks.start_soon(app.runs.answer, handle.run_id, Answer({}, interrupt_id=interrupt_id))
        assert store.reasons.count("answered") == 1
        assert (await store.load(handle.run_id)).interrupts == ()


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (Answer({}), AmbiguousInterrupt),
        (Answer({}, interrupt_id="int_9"), StaleInterrupt),
        (Answer({"n": "one"}, interrupt_id="int_1"), InvalidResumePayload),
        (Answer({}, interrupt_id="int_1", outcome="approved"), InvalidResumeOutcome),
    ],
)
async def test_an_answer_that_a_run_under_way_refuses_changes_nothing(
    answer: Answer, refusal: type[WfError], stores: Stores
) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate, "note": Gate()}), stores=stores) as app:
        handle = await asking(app, gate)
        before = await stores.runs.load(handle.run_id)
        with pytest.raises(refusal):
            await app.runs.answer(handle.run_id, answer)
        assert await stores.runs.load(handle.run_id) == before
        gate.opened.set()
        assert await stopped(app, handle) == "interrupted"
        assert len((await stores.runs.load(handle.run_id)).interrupts) == 2


async def test_an_answer_that_could_not_be_stored_is_not_acknowledged() -> None:
    kept, store = watched()
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate, "note": Gate()}), stores=kept) as app:
        handle = await asking(app, gate)
        store.refusals["answered"] = StoreFull("the run", "No space is left.")
        with anyio.fail_after(5), pytest.raises(StoreFull):
            await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_1"))
        assert (await store.load_checkpoint(handle.run_id)).reason == "started"
        assert not any(b'"kind":"resume"' in line for line in await store.load_journal(handle.run_id))


async def test_an_answer_that_comes_as_the_run_stops_is_taken_after_it() -> None:
    """The run has decided to stop, and is being stored: nobody reads what is posted to it any more."""
    kept, store = watched()
    store.holds["interrupted"] = anyio.Event()
    async with opened(stores=kept) as app:
        handle = await start(app, plan({"ask": ask()}))
        results: list[Handle] = []

        async def answer() -> None:
            results.append(await app.runs.answer(handle.run_id, Answer({})))

        with anyio.fail_after(5):
            await store.tried["interrupted"].wait()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(answer)
                await anyio.wait_all_tasks_blocked()
                assert results == []
                store.holds["interrupted"].set()
        assert await stopped(app, results[0]) == "completed"


async def test_a_question_is_shown_although_the_run_has_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "ASKED_SECONDS", 0.0)
    kept, store = watched()
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate, "note": Gate()}), stores=kept) as app:
        handle = await asking(app, gate)
        with anyio.fail_after(5):
            await store.tried["running"].wait()
            await anyio.wait_all_tasks_blocked()
        record = await store.load(handle.run_id)
        assert (record.status, [asked["id"] for asked in record.interrupts]) == ("running", ["int_1", "int_2"])
        assert store.reasons == ["create", "synced", "running"]


async def asking(app: App, gate: Gate) -> Handle:
    """Start a run of three items: one is held in a call, and two have asked, each its own question."""
    which = {"op": "eq", "left": {"path": "context.item"}, "right": {"value": "ask"}}
    document = plan(
        {
            "each": {"type": "foreach", "over": "input.items", "as": "item", "mode": "concurrent",
                     "routes": {"loop": "which", "done": "__end__"}},
            "which": {"type": "condition", "check": which, "routes": {"true": "ask", "false": "do"}},
            "ask": ask("note", resume_schema={"type": "object", "properties": {"n": {"type": "integer"}}}),
            "note": node("ops.note"),
            "do": node("ops.do"),
        }
    )  # fmt: skip
    handle = await start(app, document, {"items": ["ask", "do", "ask"]})
    with anyio.fail_after(5):
        await gate.entered.wait()
    return handle
