"""Requests that are refused, each with its code, and with every stored byte left as it was."""

import json
import re
from typing import Any

import pytest

from tests.stories.gate import Gate
from tests.stories.plans import ask, node, plan
from tests.stories.workplace import Era, Workplace
from wf_core.jsonvalue import MAX_DEPTH

pytestmark = pytest.mark.anyio

CHOICE = ask(outcomes=["told", "silent"], routes={"told": "__end__", "silent": "__end__"})
QUESTION = plan("question", ask=CHOICE)
MEGABYTE = 1_000_000


async def test_a_plan_with_an_unknown_key_is_refused_with_the_close_one(workplace: Workplace) -> None:
    async with workplace.server() as server:
        mistyped = {**QUESTION, "output_shema": True}
        report = await server.call("validate_workflow", plan=mistyped)
        error = await server.refuse("save_artifact", artifact_id="question", plan=mistyped)
        listed = await server.call("list_artifacts")
    assert error["code"] == "invalid_plan"
    assert [issue["code"] for issue in report["issues"] if issue["severity"] == "error"] == ["unknown_key"]
    assert "output_schema" in str(report["issues"][0])
    assert listed["artifacts"] == []


async def test_a_plan_that_is_no_json_object_is_refused(workplace: Workplace) -> None:
    async with workplace.server() as server:
        for text in ("{not json", "", '"a text"', "[]", "null"):
            for tool, arguments in (("validate_workflow", {}), ("save_artifact", {"artifact_id": "question"})):
                assert (await server.refuse(tool, **arguments, plan=text))["code"] == "invalid_argument"


async def test_an_argument_that_does_not_fit_is_no_protocol_fault(workplace: Workplace) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        ("run_deployment", {}),
        ("run_deployment", {"deployment_id": 7}),
        ("run_deployment", {"deployment_id": "question", "workflow_input": "text"}),
        ("run_deployment", {"deployment_id": "question", "wait_seconds": 46}),
        ("run_deployment", {"deployment_id": "question", "colour": "red"}),
        ("list_runs", {"limit": 0}),
        ("list_runs", {"limit": 101}),
        ("list_runs", {"cursor": "no such cursor!"}),
        ("list_runs", {"status": "asleep"}),
    ]
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        for tool, arguments in requests:
            assert (await server.refuse(tool, **arguments))["code"] == "invalid_argument", (tool, arguments)
        assert (await server.call("list_runs"))["runs"] == []


async def test_an_input_that_does_not_fit_creates_no_run(workplace: Workplace) -> None:
    typed = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with workplace.server() as server:
        await server.deploy({**QUESTION, "input_schema": typed})
        error = await server.refuse("run_deployment", deployment_id="question", workflow_input={"n": "one"})
        assert (await server.call("list_runs"))["runs"] == []
    assert error["code"] == "invalid_input"


async def test_a_refused_answer_leaves_the_question_open(workplace: Workplace, era: Era) -> None:
    workplace.era = era
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(QUESTION)))["run_id"]
        refusals = [
            ("invalid_resume_outcome", {"resume_payload": {"reply": "x"}}),
            ("invalid_resume_outcome", {"resume_payload": {"reply": "x"}, "resume_outcome": "shouted"}),
            ("invalid_resume_payload", {"resume_payload": {"reply": 5}, "resume_outcome": "told"}),
            ("invalid_resume_payload", {"resume_outcome": "told"}),
            ("stale_interrupt", {"resume_payload": {"reply": "x"}, "resume_outcome": "told", "interrupt_id": "int_99"}),
        ]
        for code, answer in refusals:
            assert (await server.refuse("resume_run", run_id=run_id, **answer))["code"] == code
        done = await server.call("resume_run", run_id=run_id, resume_payload={"reply": "me"}, resume_outcome="told")
    assert done["output"] == {"result": "me"}


async def test_a_wrong_outcome_lists_the_right_ones(workplace: Workplace) -> None:
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(QUESTION)))["run_id"]
        error = await server.refuse("resume_run", run_id=run_id, resume_payload={"reply": "x"})
    assert re.search(r"told.*silent", f"{error['message']} {error['hint']}")


async def test_an_answered_question_is_stale_by_its_id_and_not_open_without(workplace: Workplace) -> None:
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(QUESTION))
        answer = {"run_id": asked["run_id"], "resume_payload": {"reply": "me"}, "resume_outcome": "told"}
        await server.call("resume_run", **answer)
        again = await server.refuse("resume_run", **answer)
        by_id = await server.refuse("resume_run", **answer, interrupt_id=asked["interrupt"]["id"])
    assert (again["code"], by_id["code"]) == ("run_not_interrupted", "stale_interrupt")


async def test_a_model_cannot_answer_for_a_person(workplace: Workplace) -> None:
    async with workplace.server() as server:
        flow = plan("personal", ask=ask(answered_by="person"))
        run_id = (await server.run(await server.deploy(flow)))["run_id"]
        error = await server.refuse("resume_run", run_id=run_id, resume_payload={"reply": "yes"})
        still = await server.call("inspect_run", run_id=run_id)
    assert error["code"] == "person_required"
    assert "wf runs resume" in error["hint"]
    assert still["status"] == "interrupted"


async def test_of_several_open_questions_an_answer_names_its_own(workplace: Workplace, era: Era) -> None:
    workplace.era = era
    each = {"type": "foreach", "over": "input.people", "as": "person", "mode": "concurrent"}
    flow = plan("round", each={**each, "routes": {"loop": "ask", "done": "__end__"}}, ask=ask(resume={}))
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(flow), people=["Ada", "Grace"])
        run_id, first, second = asked["run_id"], *(question["id"] for question in asked["interrupts"])
        error = await server.refuse("resume_run", run_id=run_id, resume_payload={"reply": "me"})
        assert error["code"] == "ambiguous_interrupt"
        answer = {"run_id": run_id, "resume_payload": {"reply": "me"}}
        left = await server.call("resume_run", **answer, interrupt_id=second)
        assert [question["id"] for question in left["interrupts"]] == [first]
        done = await server.call("resume_run", **answer)
    assert done["status"] == "completed"


async def test_a_deployment_is_not_replaced_unasked(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        error = await server.refuse("create_deployment", deployment_id="question", artifact_id="question")
    assert error["code"] == "deployment_exists"


async def test_a_deployed_artifact_is_not_deleted(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        error = await server.refuse("delete_artifact", artifact_id="question")
    assert error["code"] == "artifact_in_use"
    assert "question" in f"{error['message']} {error['hint']}"


async def test_a_key_is_not_taken_again_for_another_input(workplace: Workplace) -> None:
    async with workplace.server() as server:
        started = {"deployment_id": await server.deploy(QUESTION), "idempotency_key": "monday"}
        first = await server.call("run_deployment", **started, workflow_input={"n": 1})
        again = await server.call("run_deployment", **started, workflow_input={"n": 1.0})
        error = await server.refuse("run_deployment", **started, workflow_input={"n": 2})
        listed = await server.call("list_runs")
    assert error["code"] == "idempotency_conflict"
    assert first["run_id"] == again["run_id"]
    assert len(listed["runs"]) == 1


async def test_a_run_that_another_server_advances_is_busy(workplace: Workplace) -> None:
    """The gate holds the first server in the middle of a call while the second one is asked."""
    gate = Gate(workplace)
    flow = plan("held", ask=ask(to="hold"), hold=node("gate.pass_through", result="result"))
    async with workplace.server() as first, workplace.server() as second:
        run_id = (await first.run(await first.deploy(flow)))["run_id"]
        answer = {"run_id": run_id, "resume_payload": {"reply": "go"}}
        await first.call("resume_run", **answer, wait_seconds=0)
        await gate.until_entered()
        error = await second.refuse("resume_run", **answer)
        seen = await second.call("inspect_run", run_id=run_id)
        gate.open()
        done = await first.call("inspect_run", run_id=run_id, wait_seconds=30)
    assert error["code"] == "run_busy"
    assert seen["status"] == "running"
    assert (done["status"], done["output"], gate.entered) == ("completed", {"result": "through"}, 1)


async def test_a_run_whose_source_changed_is_blocked_until_it_is_back(workplace: Workplace) -> None:
    source = (
        "from wf_core import capability\n\n@capability()\ndef greet(name: {type}) -> str:\n    return 'hi ' + name\n"
    )
    workplace.python_source("ops", source.format(type="str"))
    flow = plan("greeting", ask=ask(to="greet"), greet=node("ops.greet", result="result", name="Ada"))
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(flow)))["run_id"]
    answer = {"run_id": run_id, "resume_payload": {"reply": "go"}}

    workplace.write("ops.py", source.format(type="int"))
    async with workplace.server() as server:
        error = await server.refuse("resume_run", **answer)
        seen = await server.call("validate_run", run_id=run_id)
    assert error["code"] == "run_blocked"
    assert (seen["status"], seen["resume_readiness"]) == ("interrupted", "blocked")

    workplace.write("ops.py", source.format(type="str"))
    async with workplace.server() as server:
        done = await server.call("resume_run", **answer)
    assert done["output"] == {"result": "hi Ada"}


async def test_five_megabytes_pass_through_and_seventeen_are_too_large(workplace: Workplace, era: Era) -> None:
    workplace.era = era
    echo = node("wf.std.constant", result="value")
    echo["input"] = {"value": {"path": "input.text"}}
    async with workplace.server() as server:
        await server.deploy(plan("echo", echo=echo))
        text = "é" * (5 * MEGABYTE // 2)
        done = await server.run("echo", text=text)
        assert done["output"]["result"]["bytes"] == len(json.dumps(text, ensure_ascii=False).encode())
        whole = await server.client.read_resource(f"wf://runs/{done['run_id']}")
        assert json.loads(whole.model_dump()["contents"][0]["text"])["output"] == {"result": text}
        error = await server.refuse(
            "run_deployment", deployment_id="echo", workflow_input={"text": "x" * (17 * MEGABYTE)}
        )
        listed = await server.call("list_runs")
    assert error["code"] == "too_large"
    assert [run["run_id"] for run in listed["runs"]] == [done["run_id"]]


async def test_the_deepest_value_that_is_taken_can_be_read_by_every_client(workplace: Workplace, era: Era) -> None:
    """Readers of JSON give up at about 200 levels, and an answer holds what is stored some levels down."""
    deep: Any = 0
    for _ in range(MAX_DEPTH - 2):
        deep = [deep]
    flow = plan(
        "deep", ask=ask(request={"deep": {"path": "input.deep"}}, resume_schema={}, resume={"state.result": "."})
    )
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(flow), deep=deep)
        assert (await server.call("inspect_run", run_id=asked["run_id"]))["interrupt"]["payload"] == {"deep": deep}
        assert (await server.call("list_pending"))["pending"][0]["interrupt"]["payload"] == {"deep": deep}
        done = await server.call("resume_run", run_id=asked["run_id"], resume_payload={"deep": deep})
        assert done["output"] == {"result": {"deep": deep}}
        trace = await server.call("read_run_trace", run_id=asked["run_id"])
        assert trace["entries"][-1]["output"] == {"deep": deep}
        refused = await server.refuse("run_deployment", deployment_id="deep", workflow_input={"deep": [[[deep]]]})
    assert refused["code"] == "invalid_input"


async def test_an_agent_file_or_a_policy_that_cannot_be_read_names_every_place(workplace: Workplace) -> None:
    workplace.configure(agents={"helper": {"file": "helper.agent.json"}})
    workplace.write("helper.agent.json", '{"slug": "helper", "modle": "x", "maxTurns": 0}')
    async with workplace.server() as server:
        name = await server.deploy(QUESTION)
        stored = workplace.stored()
        agent = await server.refuse("start_session", agent="helper", prompt="Go.")
        policy = {"default": {"tag": "run"}, "rules": [{"tool": 7}]}
        deployment = await server.refuse(
            "create_deployment", deployment_id="other", artifact_id=name, call_policy=policy
        )
    assert agent["code"] == "invalid_agent"
    assert "modle" in str(agent)
    assert "maxTurns" in str(agent)
    assert deployment["code"] == "invalid_policy"
    assert len(deployment["details"]["issues"]) >= 2
    assert workplace.stored() == stored
