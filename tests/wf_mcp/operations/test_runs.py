"""Starting, answering, watching and ending runs."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import Gate, ScriptedSource, ask, contents, failing, node, opened, plan, watched
from wf_artifacts.errors import (
    DeploymentNotFound,
    IdempotencyConflict,
    InvalidCursor,
    InvalidId,
    RunNotFound,
    StoreFull,
)
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import (
    InvalidInput,
    InvalidResumePayload,
    PersonRequired,
    RunNotInterrupted,
    StaleInterrupt,
    StateCorrupt,
)
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument, RunBlocked, TooLarge
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.caller import LOCAL_PERSON, Caller
from wf_mcp.operations.deployments import create_deployment, delete_deployment
from wf_mcp.operations.runs import (
    cancel_run,
    inspect_run,
    list_runs,
    resume_run,
    run_deployment,
    validate_run,
)
from wf_mcp.operations.traces import read_run_trace

pytestmark = pytest.mark.anyio

REVIEW = plan(
    {
        "review": ask(
            outcomes=["approved", "rejected"],
            routes={"approved": "note", "rejected": "__end__"},
            request={"text": {"path": "input.text"}},
            resume_schema={"type": "object", "properties": {"comment": {"type": "string"}}},
            resume={"state.comment": {"source": "comment", "optional": True}},
        ),
        "note": node("ops.echo", input={"text": {"path": "input.text"}}),
    },
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    state_schema={"properties": {"comment": {"type": "string"}}},
    output={"comment": {"path": "state.comment", "default": None}},
)
CALL = plan({"do": node("ops.do")})


async def deployed(app: App, document: dict[str, Any], name: str = "flow") -> None:
    await save_artifact(app, artifact_id=name, plan=document)
    await create_deployment(app, deployment_id=name, artifact_id=name, replace=True)


async def reviewing(app: App, **more: Any) -> str:
    """Start a run that waits for a review."""
    await deployed(app, REVIEW)
    started = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"}, **more)
    assert started.status == "interrupted"
    assert started.run_id is not None
    return started.run_id


async def test_a_workflow_stops_for_an_answer_and_goes_on_to_its_end(stores: Stores) -> None:
    async with opened(ScriptedSource(), stores=stores) as app:
        await deployed(app, REVIEW)
        asked = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"})
        assert asked.run_id is not None
        assert (asked.status, asked.resume_readiness, asked.outcome) == ("interrupted", "ready", None)
        assert asked.interrupt is not None
        assert asked.interrupt.payload == {"text": "hello"}
        assert asked.interrupts == [asked.interrupt]
        done = await resume_run(app, run_id=asked.run_id, resume_payload={"comment": "fine"}, resume_outcome="approved")
        assert (done.status, done.outcome, done.output) == ("completed", "ok", {"comment": "fine"})
        assert await inspect_run(app, run_id=asked.run_id) == done
        trace = await read_run_trace(app, run_id=asked.run_id)
    assert [(entry.step_id, entry.outcome) for entry in trace.entries] == [
        ("review", None),
        ("review", "approved"),
        ("note", "ok"),
    ]
    answer = trace.entries[1].model_dump()["answer"]
    assert (answer["channel"], answer["principal"], answer["person"]) == ("mcp", "local", False)


async def test_a_run_goes_on_in_another_process_over_the_same_store(stores: Stores) -> None:
    async with opened(ScriptedSource(), stores=stores) as app:
        run_id = await reviewing(app)
        await delete_deployment(app, deployment_id="flow")
    async with opened(ScriptedSource(), stores=stores) as app:
        done = await resume_run(app, run_id=run_id, resume_outcome="approved", caller=LOCAL_PERSON)
    assert (done.status, done.deployment_id) == ("completed", "flow")


async def test_a_payload_left_out_is_an_empty_object() -> None:
    async with opened(ScriptedSource()) as app:
        run_id = await reviewing(app)
        with pytest.raises(InvalidResumePayload):
            await resume_run(app, run_id=run_id, resume_payload=[], resume_outcome="approved")
        assert (await resume_run(app, run_id=run_id, resume_outcome="rejected")).status == "completed"


@pytest.mark.parametrize("schema", [{"type": "null"}, {}, True])
async def test_null_is_an_answer_that_the_schema_judges_and_the_state_keeps(schema: Any) -> None:
    """plan-format: an explicit null is a value like any other."""
    answered = plan(
        {"review": ask(resume_schema=schema, resume={"state.answer": "."})},
        state_schema={"properties": {"answer": {"default": "none"}}},
        output={"answer": {"path": "state.answer"}},
    )
    async with opened(ScriptedSource()) as app:
        await deployed(app, answered)
        asked = await run_deployment(app, deployment_id="flow")
        assert asked.run_id is not None
        done = await resume_run(app, run_id=asked.run_id, resume_payload=None)
        assert (done.status, done.output) == ("completed", {"answer": None})


async def test_what_is_wrong_with_a_start_creates_no_run() -> None:
    async with opened(ScriptedSource(), max_bytes=2_000) as app:
        await deployed(app, REVIEW)
        for refusal, arguments in [
            (DeploymentNotFound, {"deployment_id": "flwo"}),
            (InvalidId, {"deployment_id": "../x"}),
            (InvalidInput, {"workflow_input": {"text": 5}}),
            (InvalidInput, {"workflow_input": {"text": float("nan")}}),
            (TooLarge, {"workflow_input": {"text": "x" * 2_000}}),
            (InvalidArgument, {"wait_seconds": 46}),
            (InvalidArgument, {"idempotency_key": ""}),
        ]:
            given: dict[str, Any] = {"deployment_id": "flow", "workflow_input": {"text": "hello"}} | arguments
            with pytest.raises(refusal):
                await run_deployment(app, **given)
        assert (await list_runs(app)).runs == []


async def test_five_megabytes_of_input_work(stores: Stores) -> None:
    async with opened(ScriptedSource(), stores=stores) as app:
        await deployed(app, REVIEW)
        asked = await run_deployment(app, deployment_id="flow", workflow_input={"text": "é" * 2_500_000})
        assert asked.interrupt is not None
        assert len(asked.interrupt.payload["text"]) == 2_500_000


async def test_a_deployment_whose_source_is_missing_is_unrunnable_and_no_run_is_created() -> None:
    async with opened(ScriptedSource(enabled=False)) as app:
        await deployed(app, REVIEW)
        told = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"})
        assert (told.status, told.run_id) == ("unrunnable", None)
        assert [one.code for one in told.diagnostics] == ["source_disabled"]
        assert (await list_runs(app)).runs == []


async def test_a_key_gives_the_same_run_again_and_is_used_up_only_by_a_run(stores: Stores) -> None:
    async with opened(ScriptedSource(), stores=stores) as app:
        await deployed(app, REVIEW)
        with pytest.raises(InvalidInput):
            await run_deployment(app, deployment_id="flow", workflow_input={}, idempotency_key="k")
        run_id = await reviewing(app, idempotency_key="k")
        await resume_run(app, run_id=run_id, resume_outcome="rejected")
        again = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"}, idempotency_key="k")
        assert (again.run_id, again.status) == (run_id, "completed")
        with pytest.raises(IdempotencyConflict):
            await run_deployment(app, deployment_id="flow", workflow_input={"text": "other"}, idempotency_key="k")


async def test_a_key_gives_its_run_although_the_deployment_could_not_run_now() -> None:
    source = ScriptedSource()
    async with opened(source) as app:
        run_id = await reviewing(app, idempotency_key="k")
        source.enabled = False
        again = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"}, idempotency_key="k")
    assert (again.run_id, again.status, again.resume_readiness) == (run_id, "interrupted", "blocked")


async def test_secrets_are_stored_neither_in_input_nor_in_answers_nor_in_reasons(tmp_path: Path) -> None:
    async with opened(ScriptedSource(), stores=open_stores(tmp_path.as_uri())) as app:
        app.redactor.add("hunter22")
        await deployed(app, REVIEW | {"description": "hunter22"})
        asked = await run_deployment(
            app, deployment_id="flow", workflow_input={"text": "my hunter22"}, idempotency_key="hunter22"
        )
        assert asked.run_id is not None
        await resume_run(app, run_id=asked.run_id, resume_payload={"comment": "hunter22!"}, resume_outcome="approved")
        other = await reviewing(app)
        await cancel_run(app, run_id=other, reason="because hunter22")
    stored = contents(tmp_path)
    assert stored
    assert [path for path, data in stored.items() if b"hunter22" in data] == []


async def test_a_run_that_takes_longer_than_the_waiting_is_running_and_found_by_inspecting() -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate})) as app:
        await deployed(app, CALL)
        told = await run_deployment(app, deployment_id="flow", wait_seconds=0)
        assert told.run_id is not None
        assert (told.status, told.resume_readiness, told.diagnostics) == ("running", "not_applicable", [])
        assert told.next_actions == [f'inspect_run(run_id="{told.run_id}", wait_seconds=25)']
        with pytest.raises(RunNotInterrupted):
            await resume_run(app, run_id=told.run_id)
        with pytest.raises(StaleInterrupt):
            await resume_run(app, run_id=told.run_id, interrupt_id="int_1")
        gate.opened.set()
        with anyio.fail_after(5):
            done = await inspect_run(app, run_id=told.run_id, wait_seconds=5)
    assert done.status == "completed"


async def test_cancelling_ends_a_run_and_a_run_that_is_over_stays_as_it_is(stores: Stores) -> None:
    async with opened(ScriptedSource(), stores=stores) as app:
        run_id = await reviewing(app)
        ended = await cancel_run(app, run_id=run_id, reason="not needed")
        assert (ended.status, ended.interrupts) == ("cancelled", [])
        assert ended.error is not None
        assert ended.error.message == "not needed"
        assert await cancel_run(app, run_id=run_id, reason="again") == ended
        with pytest.raises(RunNotInterrupted):
            await resume_run(app, run_id=run_id)


async def test_validating_asks_the_sources_anew_and_writes_nothing(tmp_path: Path) -> None:
    source = ScriptedSource()
    async with opened(source, stores=open_stores(tmp_path.as_uri())) as app:
        run_id = await reviewing(app)
        before = contents(tmp_path)
        assert (await validate_run(app, run_id=run_id)).resume_readiness == "ready"
        source.enabled = False
        blocked = await validate_run(app, run_id=run_id)
        with pytest.raises(RunBlocked):
            await resume_run(app, run_id=run_id, resume_outcome="approved")
        assert contents(tmp_path) == before
    assert (blocked.status, blocked.resume_readiness) == ("interrupted", "blocked")
    assert [one.code for one in blocked.diagnostics] == ["source_disabled"]


async def test_a_question_for_a_person_is_answered_at_the_command_line_only() -> None:
    async with opened() as app:
        await deployed(app, plan({"ask": ask(answered_by="person")}))
        asked = await run_deployment(app, deployment_id="flow")
        assert asked.run_id is not None
        with pytest.raises(PersonRequired):
            await resume_run(app, run_id=asked.run_id)
        assert (await resume_run(app, run_id=asked.run_id, caller=LOCAL_PERSON)).status == "completed"


async def test_a_stop_that_finds_no_room_is_told_of_the_run_which_is_not_to_be_begun_again() -> None:
    kept, store = watched()
    async with opened(ScriptedSource(), stores=kept) as app:
        await deployed(app, REVIEW)
        store.refusals["interrupted"] = StoreFull("the run", "no space left")
        told = await run_deployment(app, deployment_id="flow", workflow_input={"text": "hello"})
        [row] = (await list_runs(app)).runs
        assert (told.run_id, told.status) == (row.run_id, "running")
        [full] = told.diagnostics
        assert full.code == "store_full"
        assert f"{row.run_id} is stored and goes on by itself" in str(full.hint)
        assert "do not begin it again" in str(full.hint)
        store.refusals["recovered"] = StoreFull("the run", "no space left")
        told = await inspect_run(app, run_id=row.run_id)
        assert (told.status, [one.code for one in told.diagnostics]) == ("running", ["store_full"])
        store.refusals.clear()
        told = await inspect_run(app, run_id=row.run_id, wait_seconds=5)
    assert (told.status, told.diagnostics) == ("interrupted", [])


# Traces and lists


async def test_a_page_out_of_bounds_is_refused() -> None:
    async with opened() as app:
        for limit in (0, 101):
            with pytest.raises(InvalidArgument):
                await list_runs(app, limit=limit)


async def test_runs_are_listed_newest_first_by_status_deployment_and_readiness() -> None:
    source = ScriptedSource(acts={"echo": ScriptedSource().acts["echo"], "bad": failing()})
    async with opened(source) as app:
        first = await reviewing(app)
        await deployed(app, plan({"bad": node("ops.bad")}), "failing")
        failed = (await run_deployment(app, deployment_id="failing")).run_id
        second = await reviewing(app)

        async def listed(**filters: Any) -> list[str]:
            return [row.run_id for row in (await list_runs(app, **filters)).runs]

        assert await listed() == [second, failed, first]
        assert await listed(status="failed") == [failed]
        assert await listed(deployment_id="flow") == [second, first]
        assert await listed(resume_readiness="ready") == [second, first]
        assert await listed(resume_readiness="not_applicable") == [failed]
        assert await listed(resume_readiness="blocked") == []
        source.enabled = False
        assert await listed(resume_readiness="blocked", limit=1) == [second]
        with pytest.raises(InvalidId):
            await listed(deployment_id="../x")


async def test_a_filtered_list_is_walked_once_and_its_cursor_is_of_these_filters() -> None:
    async with opened(ScriptedSource()) as app:
        waiting: list[str] = []
        for _ in range(3):
            waiting.insert(0, await reviewing(app))
            done = await reviewing(app)
            await resume_run(app, run_id=done, resume_outcome="rejected")
        page = await list_runs(app, resume_readiness="ready", limit=2)
        assert [row.run_id for row in page.runs] == waiting[:2]
        for filters in ({}, {"resume_readiness": "blocked"}, {"status": "completed"}):
            with pytest.raises(InvalidCursor):
                await list_runs(app, cursor=page.next_cursor, **filters)  # type: ignore[arg-type]
        rest = await list_runs(app, resume_readiness="ready", cursor=page.next_cursor, limit=2)
    assert [row.run_id for row in rest.runs] == waiting[2:]
    assert rest.next_cursor is None


async def test_listing_connects_no_upstream_server() -> None:
    source = ScriptedSource(kind="mcp")
    async with opened(source) as app:
        await reviewing(app)
        source.state, source.asked = "idle", 0
        [row] = (await list_runs(app)).runs
    assert row.resume_readiness == "ready"
    assert source.asked == 0


async def test_the_run_of_somebody_else_does_not_exist() -> None:
    async with opened(ScriptedSource()) as app:
        run_id = await reviewing(app, caller=Caller(principal="ann"))
        assert (await list_runs(app)).runs == []
        for refused in (
            inspect_run(app, run_id=run_id),
            validate_run(app, run_id=run_id),
            resume_run(app, run_id=run_id, resume_outcome="approved"),
            cancel_run(app, run_id=run_id),
            read_run_trace(app, run_id=run_id),
        ):
            with pytest.raises(RunNotFound) as missing:
                await refused
            assert missing.value.close == ()


@pytest.mark.parametrize("run_id", ["", " ", "../x", "run_nothing", "\x00", "é"])
async def test_an_id_that_is_none_is_a_run_that_is_not_found(stores: Stores, run_id: str) -> None:
    async with opened(stores=stores) as app:
        with pytest.raises(RunNotFound):
            await inspect_run(app, run_id=run_id)


async def test_an_unknown_id_names_close_ones() -> None:
    async with opened(ScriptedSource()) as app:
        run_id = await reviewing(app)
        with pytest.raises(RunNotFound) as missing:
            await inspect_run(app, run_id=f"{run_id[:-1]}Z")
    assert missing.value.close == (run_id,)


async def test_a_key_gives_its_run_though_the_deployment_is_gone(stores: Stores) -> None:
    """Whoever did not get the answer asks again, and is not told that there is nothing."""
    async with opened(stores=stores) as app:
        await deployed(app, plan({"now": node("wf.std.now")}))
        first = await run_deployment(app, deployment_id="flow", idempotency_key="k")
        await delete_deployment(app, deployment_id="flow")

        again = await run_deployment(app, deployment_id="flow", idempotency_key="k")
        with pytest.raises(IdempotencyConflict):
            await run_deployment(app, deployment_id="flow", workflow_input={"n": 1}, idempotency_key="k")
        with pytest.raises(DeploymentNotFound):
            await run_deployment(app, deployment_id="flow", idempotency_key="other")

    assert again == first


@pytest.mark.parametrize("lost", ["journal", "checkpoints", "environment.json"])
async def test_a_run_that_is_damaged_is_neither_answered_nor_cancelled(tmp_path: Path, lost: str) -> None:
    async with opened(stores=open_stores(tmp_path.as_uri())) as app:
        await deployed(app, plan({"ask": ask()}))
        asked = await run_deployment(app, deployment_id="flow")
        run_id = str(asked.run_id)
        (tmp_path / "runs" / run_id / lost).rename(tmp_path / "lost")
        before = contents(tmp_path / "runs")

        with pytest.raises(StateCorrupt, match=lost):
            await resume_run(app, run_id=run_id)
        with pytest.raises(StateCorrupt, match=lost):
            await cancel_run(app, run_id=run_id)

        assert contents(tmp_path / "runs") == before
