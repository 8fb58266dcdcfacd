"""Runs belong to the server: who starts, answers, ends and waits for them."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import (
    Gate,
    ScriptedSource,
    ask,
    contents,
    interrupted,
    node,
    opened,
    plan,
    start,
    stopped,
    watched,
)
from wf_artifacts.errors import IdempotencyConflict, RunBusy
from wf_artifacts.stores import Stores, open_stores
from wf_core.calls.contract import Contract
from wf_core.errors import (
    InvalidInput,
    InvalidResumeOutcome,
    InvalidResumePayload,
    PersonRequired,
    RunNotInterrupted,
    StaleInterrupt,
    WfError,
)
from wf_core.runtime import Answer
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import runs as execution
from wf_mcp.execution.runs import Handle

pytestmark = pytest.mark.anyio

ASK_THEN_CALL = plan(
    {"ask": ask("do", resume_schema={"type": "object", "properties": {"n": {"type": "integer"}}}), "do": node("ops.do")}
)
CALL = plan({"do": node("ops.do")})
ASK = plan({"ask": ask()})


# Whose run it is


async def test_a_run_is_stored_before_its_first_call(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            await gate.entered.wait()
        record = await stores.runs.load(handle.run_id)
        assert (record.status, record.checkpoint) == ("running", 1)
        assert await stores.runs.is_claimed(handle.run_id)


async def test_input_that_does_not_fit_creates_no_run(stores: Stores) -> None:
    async with opened(stores=stores) as app:
        with pytest.raises(InvalidInput):
            await start(app, plan({"ask": ask()}, input_schema={"type": "object", "required": ["x"]}))
        assert (await stores.runs.list_runs(principal=None, limit=1)).items == ()


async def test_a_stop_is_stored_before_anybody_hears_of_it() -> None:
    kept, store = watched()
    store.holds["interrupted"] = anyio.Event()
    heard = anyio.Event()
    async with opened(stores=kept) as app:
        handle = await start(app, ASK)

        async def wait() -> None:
            await app.runs.wait(handle, seconds=5)
            heard.set()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await store.tried["interrupted"].wait()
                assert not heard.is_set()
                assert (await store.load(handle.run_id)).status == "running"
                store.holds["interrupted"].set()
        assert heard.is_set()
        assert (await store.load(handle.run_id)).status == "interrupted"


async def test_a_request_that_is_cancelled_does_not_stop_the_run_that_it_waits_for(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as request:
                request.start_soon(partial(app.runs.wait, handle, seconds=5))
                await gate.entered.wait()
                request.cancel_scope.cancel()
        gate.opened.set()
        assert await stopped(app, handle) == "completed"


async def test_a_request_that_is_cancelled_while_it_starts_a_run_leaves_a_whole_run_or_none() -> None:
    """The store is in the middle of making the run when the client goes away."""
    kept, store = watched()
    store.holds["create"] = anyio.Event()
    async with opened(stores=kept) as app:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as request:
                request.start_soon(start, app, ASK)
                await store.tried["create"].wait()
                request.cancel_scope.cancel()
            store.holds["create"].set()
            await store.tried["interrupted"].wait()
        [record] = (await store.list_runs(principal=None, limit=5)).items
        assert await stopped(app, app.runs.handle(record.run_id)) == "interrupted"


async def test_waiting_ends_with_the_time_and_the_run_goes_on() -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate})) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            await app.runs.wait(handle, seconds=0)
            await app.runs.wait(handle, seconds=0.01)
        assert (await app.stores.runs.load(handle.run_id)).status == "running"
        gate.opened.set()
        assert await stopped(app, handle) == "completed"


async def test_progress_is_told_from_the_first_step_on_and_only_grows() -> None:
    told: list[tuple[int, str]] = []

    one, two = Gate(), Gate()

    async def listen(steps: int, message: str) -> None:
        told.append((steps, message))
        (one if steps == 1 else two).opened.set()

    async with opened(ScriptedSource(acts={"one": one, "two": two})) as app:
        handle = await start(app, plan({"a": node("ops.one", "b"), "b": node("ops.two")}))
        with anyio.fail_after(5):
            await app.runs.wait(handle, seconds=5, progress=listen)
    assert told == [(1, "a: ops.one"), (2, "b: ops.two")]


async def test_closing_the_program_leaves_the_run_as_it_is_stored_and_free(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        handle = await start(app, CALL)
        with anyio.fail_after(5):
            await gate.entered.wait()
    assert gate.cancelled.is_set()
    assert (await stores.runs.load(handle.run_id)).status == "running"
    assert not await stores.runs.is_claimed(handle.run_id)


async def test_a_run_of_another_process_is_waited_for_until_it_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "LOOK_AGAIN_SECONDS", 0.001)
    stores = open_stores("memory://")
    async with opened(stores=stores) as app:
        run_id = await interrupted(app, ASK)
        claim = await stores.runs.claim(run_id)
        with anyio.fail_after(5):
            await app.runs.wait(Handle(run_id), seconds=0.01)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(claim.release)
                await app.runs.wait(Handle(run_id), seconds=5)


# Idempotency keys


async def test_one_key_and_input_is_one_run_however_often_it_is_asked_for(stores: Stores) -> None:
    source = ScriptedSource(acts={"do": Gate()})
    handles: list[Handle] = []
    async with opened(source, stores=stores) as app:

        async def ask_for_it() -> None:
            handles.append(await start(app, CALL, {"n": 1.0}, key="k"))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(ask_for_it)
        assert len({handle.run_id for handle in handles}) == 1
        assert all(handle.live is not None for handle in handles)
        with pytest.raises(IdempotencyConflict):
            await start(app, CALL, {"n": 2}, key="k")
    assert len(source.calls) == 1


# Answers


async def test_an_answer_is_stored_before_the_next_call(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        handle = await app.runs.answer(run_id, Answer({"n": 1}))
        with anyio.fail_after(5):
            await gate.entered.wait()
        record = await stores.runs.load(run_id)
        assert (record.status, record.interrupts, record.trace_count) == ("running", (), 2)
        assert (await stores.runs.load_checkpoint(run_id)).reason == "answered"
        gate.opened.set()
        assert await stopped(app, handle) == "completed"


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (Answer({"n": "one"}), InvalidResumePayload),
        (Answer({}, outcome="approved"), InvalidResumeOutcome),
        (Answer({}, interrupt_id="int_9"), StaleInterrupt),
    ],
)
async def test_a_refused_answer_leaves_every_stored_byte(
    tmp_path: Path, answer: Answer, refusal: type[WfError]
) -> None:
    async with opened(ScriptedSource(acts={"do": Gate()}), stores=open_stores(tmp_path.as_uri())) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        before = contents(tmp_path)
        with pytest.raises(refusal):
            await app.runs.answer(run_id, answer)
        assert contents(tmp_path) == before
        await app.runs.answer(run_id, Answer({}))


async def test_what_only_a_person_may_answer_is_refused_to_a_model(stores: Stores) -> None:
    async with opened(stores=stores) as app:
        run_id = await interrupted(app, plan({"ask": ask(answered_by="person")}))
        with pytest.raises(PersonRequired):
            await app.runs.answer(run_id, Answer({}))
        handle = await app.runs.answer(run_id, Answer({}, channel="cli", person=True))
        assert await stopped(app, handle) == "completed"


async def test_a_changed_contract_blocks_and_changes_nothing_and_restored_lets_the_run_go_on(tmp_path: Path) -> None:
    source = ScriptedSource(acts={"do": Gate({})})
    async with opened(source, stores=open_stores(tmp_path.as_uri())) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        before = contents(tmp_path)
        source.contracts = {"do": Contract(input_schema={"type": "object", "required": ["more"]})}
        with pytest.raises(RunBlocked) as blocked:
            await app.runs.answer(run_id, Answer({}))
        assert [diagnostic["code"] for diagnostic in blocked.value.diagnostics] == ["contract_changed"]
        source.enabled = False
        with pytest.raises(RunBlocked) as blocked:
            await app.runs.answer(run_id, Answer({}))
        assert [diagnostic["code"] for diagnostic in blocked.value.diagnostics] == ["source_disabled"]
        assert contents(tmp_path) == before
        source.enabled, source.contracts = True, {}
        await app.runs.answer(run_id, Answer({}))


@pytest.mark.parametrize("interrupt_id", ["int_1", None])
async def test_of_two_answers_at_once_one_is_taken(stores: Stores, interrupt_id: str | None) -> None:
    """The first is held while it asks the sources; the second comes meanwhile, and learns that it was late."""
    looked, go_on = anyio.Event(), anyio.Event()

    class Held(ScriptedSource):
        async def capabilities(self) -> Any:
            if self.state == "idle":
                looked.set()
                await go_on.wait()
            return await super().capabilities()

    source, results = Held(acts={"do": Gate()}), list[object]()
    async with opened(source, stores=stores) as app:
        run_id = await interrupted(app, ASK_THEN_CALL)
        source.state = "idle"

        async def answer() -> None:
            try:
                results.append(await app.runs.answer(run_id, Answer({}, interrupt_id=interrupt_id)))
            except WfError as error:
                results.append(error)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(answer)
                await looked.wait()
                tasks.start_soon(answer)
                await anyio.wait_all_tasks_blocked()
                go_on.set()
    first, second = results
    assert isinstance(first, Handle)
    assert isinstance(second, RunNotInterrupted if interrupt_id is None else StaleInterrupt)


async def test_a_run_that_is_over_takes_no_answer(stores: Stores) -> None:
    async with opened(stores=stores) as app:
        handle = await start(app, plan({"end": {"type": "end"}}))
        assert await stopped(app, handle) == "completed"
        with pytest.raises(RunNotInterrupted):
            await app.runs.answer(handle.run_id, Answer({}))
        with pytest.raises(StaleInterrupt):
            await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_1"))


async def test_a_run_that_another_process_advances_is_busy(stores: Stores) -> None:
    async with opened(stores=stores) as app:
        run_id = await interrupted(app, ASK)
        async with await stores.runs.claim(run_id):
            with pytest.raises(RunBusy):
                await app.runs.answer(run_id, Answer({}))
            with pytest.raises(RunBusy) as refused:
                await app.runs.cancel(run_id, reason=None)
            assert "in the client that started or answered it" in (refused.value.hint or "")
        handle = await app.runs.answer(run_id, Answer({}))
        assert await stopped(app, handle) == "completed"


async def test_a_client_that_leaves_in_the_middle_of_its_answer_has_answered() -> None:
    kept, store = watched()
    async with opened(stores=kept) as app:
        run_id = await interrupted(app, ASK)
        store.holds["answered"] = anyio.Event()
        with anyio.fail_after(5):
            async with anyio.create_task_group() as request:
                request.start_soon(app.runs.answer, run_id, Answer({}))
                await store.tried["answered"].wait()
                request.cancel_scope.cancel()
            store.holds["answered"].set()
            await store.tried["completed"].wait()
        assert await stopped(app, app.runs.handle(run_id)) == "completed"
