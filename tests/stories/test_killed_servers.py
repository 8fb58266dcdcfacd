"""A server that is killed in the middle of a call loses nothing that was stored, and repeats nothing."""

from pathlib import Path

import pytest

from tests.stories.gate import Gate
from tests.stories.plans import ask, node, plan
from tests.stories.workplace import Era, Workplace

pytestmark = pytest.mark.anyio


async def test_a_call_that_was_cut_off_is_told_and_not_made_again(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    flow = plan("held", ask=ask(to="hold"), hold=node("gate.pass_through", result="result"))
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(flow)))["run_id"]
        await server.call("resume_run", run_id=run_id, resume_payload={"reply": "go"}, wait_seconds=0)
        await gate.until_entered()
        server.kill()
    gate.open()
    async with workplace.server() as server:
        seen = await server.call("inspect_run", run_id=run_id)
        assert (seen["status"], [told["code"] for told in seen["diagnostics"]]) == ("running", ["run_abandoned"])
        ended = await server.call("cancel_run", run_id=run_id, reason="cut off")
        trace = await server.call("read_run_trace", run_id=run_id)
    assert ended["status"] == "cancelled"
    assert [entry["step_id"] for entry in trace["entries"][:2]] == ["ask", "ask"]
    assert gate.entered == 1


async def test_what_was_answered_before_the_kill_stays_answered(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(plan("twice", first=ask(to="second"), second=ask())))
        first = {"run_id": asked["run_id"], "interrupt_id": asked["interrupt"]["id"], "resume_payload": {"reply": "1"}}
        again = await server.call("resume_run", **first)
        server.kill()
    async with workplace.server() as server:
        seen = await server.call("inspect_run", run_id=asked["run_id"])
        refused = await server.refuse("resume_run", **first)
        done = await server.call("resume_run", run_id=asked["run_id"], resume_payload={"reply": "2"})
    assert seen["interrupt"] == again["interrupt"]
    assert refused["code"] == "stale_interrupt"
    assert (done["status"], done["output"], done["trace_count"]) == ("completed", {"result": "2"}, 4)
