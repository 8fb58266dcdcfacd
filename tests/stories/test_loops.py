"""Loops whose items ask: every question is open at once, each is answered by itself, whatever dies in between."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.gate import Gate
from tests.stories.plans import ask, node, plan
from tests.stories.tally import Tally
from tests.stories.workplace import Era, Server, Workplace

pytestmark = pytest.mark.anyio

SEEN: dict[str, Any] = {"type": "object", "properties": {"seen": {"type": "array", "default": [], "reducer": "append"}}}


def each(name: str, body: str, **steps: Any) -> dict[str, Any]:
    """A plan that runs a body for each of its items at once, and gives what the body collected in `seen`."""
    loop = {
        "type": "foreach",
        "over": "input.items",
        "as": "item",
        "mode": "concurrent",
        "max_active": 2,
        "routes": {"loop": body, "done": "__end__"},
    }
    output = {"type": "object", "properties": {"seen": {"type": "array"}}}
    return {**plan(name, each=loop, **steps), "state_schema": SEEN, "output_schema": output}


def note(what: str, to: str = "__end__", **more: Any) -> dict[str, Any]:
    """Note a text that is put together from the item."""
    step = {"type": "node", "use": "tally.note", "input": {"what": {"template": what}}, "routes": {"ok": to}}
    return {**step, **more}


def question(to: str = "__end__") -> dict[str, Any]:
    return ask(to=to, request={"item": {"path": "context.item"}}, resume={"state.seen": "reply"})


BEFORE_AND_AFTER = each(
    "before_and_after", "before", before=note("before {{context.item}}", "ask"), ask=question("after"),
    after=note("after {{context.item}}"),
)  # fmt: skip


async def test_each_of_many_questions_is_answered_by_a_new_server_after_the_one_before_was_killed(
    tmp_path: Path, era: Era
) -> None:
    """The loop has two places: a question holds none, so all three are open. The answers come in any order."""
    workplace = Workplace(tmp_path, era)
    tally = Tally(workplace)
    items = ["a", "b", "c"]
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(BEFORE_AND_AFTER), items=items)
        server.kill()
    run_id = asked["run_id"]
    opened = {interrupt["payload"]["item"]: interrupt for interrupt in asked["interrupts"]}
    assert asked["status"] == "interrupted"
    assert sorted(opened) == items
    assert sorted(tally.noted) == [f"before {item}" for item in items]

    left = dict(opened)
    for item in ("b", "c", "a"):
        async with workplace.server() as server:
            assert await open_questions(server, run_id) == sorted(asked["id"] for asked in left.values())
            answer = {"run_id": run_id, "interrupt_id": left.pop(item)["id"], "resume_payload": {"reply": item}}
            answered = await server.call("resume_run", **answer)
            assert (await server.refuse("resume_run", **answer))["code"] == "stale_interrupt"
            assert answered["status"] == ("interrupted" if left else "completed")
            assert tally.noted[-1] == f"after {item}"
            server.kill()

    async with workplace.server() as server:
        done = await server.call("inspect_run", run_id=run_id)
    assert done["output"] == {"seen": items}
    assert sorted(tally.noted) == sorted(f"{when} {item}" for item in items for when in ("after", "before"))


async def test_several_processes_answer_the_questions_of_one_run(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    tally = Tally(workplace)
    async with workplace.server() as first, workplace.server() as second:
        asked = await first.run(await first.deploy(BEFORE_AND_AFTER), items=["a", "b", "c"])
        run_id, ids = asked["run_id"], [interrupt["id"] for interrupt in asked["interrupts"]]
        assert await open_questions(second, run_id) == sorted(ids)
        unnamed = await first.refuse("resume_run", run_id=run_id, resume_payload={"reply": "x"})
        by_second = await second.call("resume_run", run_id=run_id, interrupt_id=ids[1], resume_payload={"reply": "2"})
        stale = await first.refuse("resume_run", run_id=run_id, interrupt_id=ids[1], resume_payload={"reply": "x"})
        by_person = workplace.wf(
            "runs", "resume", run_id, "--interrupt", ids[2], "--payload", '{"reply": "3"}', "--json"
        )
        done = await first.call("resume_run", run_id=run_id, resume_payload={"reply": "1"})
    assert unnamed["code"] == "ambiguous_interrupt"
    assert all(interrupt_id in unnamed["hint"] for interrupt_id in ids)
    assert [interrupt["id"] for interrupt in by_second["interrupts"]] == [ids[0], ids[2]]
    assert stale["code"] == "stale_interrupt"
    assert by_person.returncode == 3
    assert sorted(done["output"]["seen"]) == ["1", "2", "3"]
    assert len(tally.noted) == 6


async def test_a_question_is_answered_while_another_item_executes(tmp_path: Path, era: Era) -> None:
    """The process that advances the run takes the answer; another one is told that the run is busy."""
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    held = {"op": "eq", "left": {"path": "context.item"}, "right": {"value": "held"}}
    flow = each(
        "mixed",
        "which",
        which={"type": "condition", "check": held, "routes": {"true": "hold", "false": "ask"}},
        hold=node("gate.pass_through"),
        ask=question("more"),
        more=ask(),
    )
    flow["state_schema"]["properties"]["result"] = {"type": "array", "default": [], "reducer": "append"}
    async with workplace.server() as first, workplace.server() as second:
        items = ["held", "asks"]
        begun = await first.call(
            "run_deployment", deployment_id=await first.deploy(flow), workflow_input={"items": items}, wait_seconds=0
        )
        answer = {"run_id": begun["run_id"], "interrupt_id": "int_1", "resume_payload": {"reply": "now"}}
        await gate.until_entered()
        with anyio.fail_after(20):
            while await listed(second, begun["run_id"]) != ["int_1"]:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        await workplace.until_at_rest()
        busy = await second.refuse("resume_run", **answer)
        wrong = await first.call("inspect_run", run_id=begun["run_id"])
        taken = await first.call("resume_run", **answer, wait_seconds=1)
        pending = await second.call("list_pending")
        gate.open()
        asked = await first.call("inspect_run", run_id=begun["run_id"], wait_seconds=30)
        done = await second.call("resume_run", run_id=begun["run_id"], resume_payload={"reply": "then"})
    assert busy["code"] == "run_busy"
    assert wrong["status"] == "running"
    assert (taken["status"], [interrupt["id"] for interrupt in taken["interrupts"]]) == ("running", ["int_2"])
    assert [item["interrupt"]["id"] for item in pending["pending"]] == ["int_2"]
    assert (asked["status"], [interrupt["id"] for interrupt in asked["interrupts"]]) == ("interrupted", ["int_2"])
    assert (done["status"], done["output"]) == ("completed", {"seen": ["now"]})
    assert gate.entered == 1


async def test_of_two_hundred_items_that_end_at_once_every_one_is_kept(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    tally = Tally(workplace)
    items = [str(number) for number in range(200)]
    flow = each("many", "do", do=note("{{context.item}}", output={"state.seen": "result"}), ask=in_passing())
    flow["steps"]["each"] |= {"max_active": 200, "routes": {"loop": "do", "done": "ask"}}
    async with workplace.server() as server:
        asked = await server.run(await server.deploy(flow), items=items)
        server.kill()
    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=asked["run_id"])
    assert (done["status"], done["output"]) == ("completed", {"seen": items})
    assert sorted(tally.noted) == sorted(items)


async def test_two_hundred_questions_are_open_at_once_and_stay_what_they_are(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    async with workplace.server() as server:
        flow = each("asking", "ask", ask=in_passing())
        asked = await server.run(await server.deploy(flow), items=list(range(200)))
        run_id = asked["run_id"]
        everything = [f"int_{number}" for number in range(1, 201)]
        assert await listed(server, run_id) == everything
        server.kill()
    async with workplace.server() as server:
        answered = await server.call("resume_run", run_id=run_id, interrupt_id="int_117")
        # An answer names as many as a model can read.
        assert [one["id"] for one in asked["interrupts"]] == everything[:100]
        assert answered["interrupts"] == asked["interrupts"]
        assert await listed(server, run_id) == [one for one in everything if one != "int_117"]


def in_passing() -> dict[str, Any]:
    """A question whose answer says nothing."""
    return {"type": "interrupt", "kind": "question", "routes": {"submitted": "__end__"}}


async def listed(server: Server, run_id: str) -> list[str]:
    """Walk the pages of everything that waits, and name the questions of a run."""
    page = await server.call("list_pending", run_id=run_id, limit=90)
    walked: list[str] = []
    while True:
        walked += [item["interrupt"]["id"] for item in page["pending"]]
        if page["next_cursor"] is None:
            return walked
        page = await server.call("list_pending", run_id=run_id, limit=90, cursor=page["next_cursor"])


async def open_questions(server: Server, run_id: str) -> list[str]:
    """Name what is open, which the summary of the run and the list of everything that waits have to agree on."""
    summary = await server.call("inspect_run", run_id=run_id)
    ids = await listed(server, run_id)
    assert [interrupt["id"] for interrupt in summary["interrupts"]] == ids
    return sorted(ids)
