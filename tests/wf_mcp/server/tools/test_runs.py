"""Tools for runs, through a client."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.server.connected import ASK, Era, connected

pytestmark = pytest.mark.anyio


async def test_a_run_stops_to_ask_and_goes_on_with_the_answer(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        deployment = await server.deploy(ASK)
        asked = await server.call("run_deployment", deployment_id=deployment)
        answer = {"run_id": asked["run_id"], "resume_payload": {"answer": "well"}}
        ended = await server.call("resume_run", **answer)

    assert asked["status"] == "interrupted"
    assert asked["interrupt"]["payload"] == {"question": "How are you?"}
    assert (ended["status"], ended["output"]) == ("completed", {"answer": "well"})


@pytest.mark.parametrize(("given", "kept"), [({"resume_payload": None}, None), ({}, {})])
async def test_null_is_an_answer_and_what_is_left_out_is_an_empty_object(
    tmp_path: Path, era: Era, given: dict[str, Any], kept: Any
) -> None:
    step = ASK["steps"]["ask"] | {"resume_schema": {"type": ["null", "object"]}, "resume": {"state.answer": "."}}
    answer: dict[str, Any] = {"type": "object", "properties": {"answer": {}}}
    plan: dict[str, Any] = ASK | {
        "state_schema": answer,
        "output_schema": answer,
        "steps": {**ASK["steps"], "ask": step},
    }
    async with connected(tmp_path, era) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(plan)))["run_id"]
        ended = await server.call("resume_run", run_id=run_id, **given)

    assert (ended["status"], ended["output"]) == ("completed", {"answer": kept})


async def test_a_question_for_a_person_is_not_answered_through_mcp(tmp_path: Path, era: Era) -> None:
    plan: dict[str, Any] = ASK | {"steps": {**ASK["steps"], "ask": ASK["steps"]["ask"] | {"answered_by": "person"}}}
    async with connected(tmp_path, era) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(plan)))["run_id"]
        error = await server.refuse("resume_run", run_id=run_id, resume_payload={"answer": "well"})
        standing = await server.call("inspect_run", run_id=run_id)

    assert error["code"] == "person_required"
    assert standing["status"] == "interrupted"


async def test_a_run_is_looked_at_listed_traced_and_cancelled(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(ASK)))["run_id"]
        validated = await server.call("validate_run", run_id=run_id)
        trace = await server.call("read_run_trace", run_id=run_id, start=-1)
        listed = await server.call("list_runs", status="interrupted", resume_readiness="ready")
        cancelled = await server.call("cancel_run", run_id=run_id, reason="enough")

    assert validated["resume_readiness"] == "ready"
    assert [entry["step_id"] for entry in trace["entries"]] == ["ask"]
    assert [row["run_id"] for row in listed["runs"]] == [run_id]
    assert cancelled["status"] == "cancelled"


async def test_an_idempotency_key_names_one_run(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        arguments = {"deployment_id": await server.deploy(ASK), "idempotency_key": "monday"}
        first = await server.call("run_deployment", **arguments)
        again = await server.call("run_deployment", **arguments)
        other = await server.refuse("run_deployment", **arguments, workflow_input={"other": 1})

    assert again["run_id"] == first["run_id"]
    assert other["code"] == "idempotency_conflict"
