"""How runs end that do not stop by themselves: cancelled, or by a fault that is not theirs."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import (
    Gate,
    ScriptedSource,
    ask,
    interrupted,
    node,
    opened,
    plan,
    start,
    stopped,
    watched,
)
from wf_artifacts.errors import StoreFull
from wf_artifacts.stores import Stores
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer
from wf_mcp.execution.runs import AdvancingFailed

pytestmark = pytest.mark.anyio

ASK_THEN_CALL = plan({"ask": ask("do"), "do": node("ops.do")})
CALL = plan({"do": node("ops.do")})
ASK = plan({"ask": ask()})


async def test_cancelling_a_run_cancels_its_call_and_keeps_that_its_effects_are_unknown(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            await gate.entered.wait()
            await app.runs.cancel(handle.run_id, reason="not needed")
            await gate.cancelled.wait()
        record = await stores.runs.load(handle.run_id)
        [entry] = await stores.runs.read_trace(handle.run_id, 0, 5)
        assert not await stores.runs.is_claimed(handle.run_id)
    assert record.status == "cancelled"
    assert record.error is not None
    assert (record.error["message"], record.error["side_effects"]) == ("not needed", "unknown")
    assert (entry["error"]["code"], entry["error"]["side_effects"]) == ("cancelled", "unknown")


async def test_a_call_that_does_not_heed_being_cancelled_does_not_hold_up_the_end_of_its_run() -> None:
    entered, release = anyio.Event(), anyio.Event()

    async def stubborn(given: dict[str, Any]) -> JsonValue:
        with anyio.CancelScope(shield=True):
            entered.set()
            await release.wait()
        return {}

    async with opened(ScriptedSource(acts={"do": stubborn})) as app:
        handle = await start(app, CALL)
        try:
            with anyio.fail_after(5):
                await entered.wait()
                await app.runs.cancel(handle.run_id, reason=None)
            assert (await app.stores.runs.load(handle.run_id)).status == "cancelled"
            assert not await app.stores.runs.is_claimed(handle.run_id)
        finally:
            release.set()


async def test_a_run_that_waits_for_an_answer_is_cancelled_although_its_sources_are_gone(stores: Stores) -> None:
    source = ScriptedSource(acts={"do": Gate()})
    async with opened(source, stores=stores) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        source.enabled = False
        await app.runs.cancel(run_id, reason=None)
        record = await stores.runs.load(run_id)
        assert (record.status, record.interrupts) == ("cancelled", ())
        checkpoint = record.checkpoint
        await app.runs.cancel(run_id, reason="again")
        assert (await stores.runs.load(run_id)).checkpoint == checkpoint


async def test_a_run_whose_process_is_gone_can_be_cancelled(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            await gate.entered.wait()
    async with opened(stores=stores) as app:
        await app.runs.cancel(handle.run_id, reason=None)
    assert (await stores.runs.load(handle.run_id)).status == "cancelled"


async def test_a_stop_that_cannot_be_stored_is_told_and_leaves_the_run_as_it_was() -> None:
    kept, store = watched()
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=kept) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        handle = await app.runs.answer(run_id, Answer({}))
        store.refusals["completed"] = StoreFull("the run", "no space left")
        gate.opened.set()
        with pytest.raises(StoreFull):
            await app.runs.wait(handle, seconds=5)
        record = await store.load(run_id)
        assert (record.status, record.checkpoint) == ("running", 3)
        assert not await store.is_claimed(run_id)


async def test_an_answer_that_cannot_be_stored_is_not_taken() -> None:
    kept, store = watched()
    async with opened(stores=kept) as app:
        run_id = await interrupted(app, ASK)
        store.refusals["answered"] = StoreFull("the run", "no space left")
        with pytest.raises(StoreFull):
            await app.runs.answer(run_id, Answer({}))
        assert (await store.load(run_id)).status == "interrupted"
        store.refusals.clear()
        handle = await app.runs.answer(run_id, Answer({}))
        assert await stopped(app, handle) == "completed"


async def test_a_fault_of_ours_ends_the_advance_and_not_the_program() -> None:
    kept, store = watched()
    async with opened(stores=kept) as app:
        store.refusals["interrupted"] = RuntimeError("a bug")
        handle = await start(app, ASK)
        with pytest.raises(AdvancingFailed):
            await app.runs.wait(handle, seconds=5)
        assert not await store.is_claimed(handle.run_id)
        store.refusals.clear()
        assert await interrupted(app, ASK)
