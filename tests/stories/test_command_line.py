"""The command line over the home that a server uses at the same time."""

import json

import pytest

from tests.stories.plans import ask, plan
from tests.stories.workplace import Workplace

pytestmark = pytest.mark.anyio


async def test_a_person_answers_on_the_command_line_what_the_model_may_not(workplace: Workplace) -> None:
    async with workplace.server() as server:
        flow = plan("personal", ask=ask(answered_by="person"))
        run_id = (await server.run(await server.deploy(flow)))["run_id"]
        answered = workplace.wf("runs", "resume", run_id, "--payload", '{"reply": "yes"}', "--json")
        seen = await server.call("inspect_run", run_id=run_id)
    assert (answered.returncode, answered.stderr) == (0, "")
    assert json.loads(answered.stdout)["status"] == "completed"
    assert (seen["status"], seen["output"]) == ("completed", {"result": "yes"})


async def test_a_run_that_waits_ends_its_command_with_status_3(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(plan("question", ask=ask()))
        started = workplace.wf("runs", "start", "question", "--json")
        listed = await server.call("list_runs")
    assert started.returncode == 3
    assert [run["run_id"] for run in listed["runs"]] == [json.loads(started.stdout)["run_id"]]


async def test_a_file_that_is_no_json_is_refused_with_its_place(workplace: Workplace) -> None:
    workplace.write("plan.json", '{"name": "broken",\n "start": }')
    refused = workplace.wf("plan", "validate", "@plan.json")
    assert refused.returncode == 2
    assert "line 2" in refused.stderr
    assert "Traceback" not in refused.stderr
