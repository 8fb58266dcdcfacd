"""Workflows inside workflows: their questions reach the outside, and a run keeps the children that it started with."""

from pathlib import Path
from typing import Any

import pytest

from tests.stories.plans import ask, node, plan
from tests.stories.tally import Tally
from tests.stories.workplace import Era, Server, Workplace

pytestmark = pytest.mark.anyio

LEAF = plan(
    "leaf",
    before=node("tally.note", to="first", what="leaf"),
    first=ask(to="second"),
    second={**ask(), "resume": {}, "request": {"first": {"path": "state.result"}}},
)


def child(name: str, version: int = 1, to: str = "__end__") -> dict[str, Any]:
    """Run a saved plan, and keep its result."""
    workflow = {"artifact_id": name, "version": version}
    return {"type": "subgraph", "workflow": workflow, "output": {"state.result": "result"}, "routes": {"ok": to}}


def family() -> dict[str, dict[str, Any]]:
    """Three workflows, each inside the next; the middle one written in place in a plan of its own."""
    in_place = {**child("leaf"), "workflow": {"plan": plan("between", inner=child("leaf"))}}
    return {"leaf": LEAF, "middle": plan("middle", between=in_place), "top": plan("top", outer=child("middle"))}


async def deploy(server: Server) -> str:
    for name, document in family().items():
        await server.call("save_artifact", artifact_id=name, plan=document)
    deployment = await server.call("create_deployment", deployment_id="top", artifact_id="top")
    assert deployment["runnable"], deployment
    return "top"


async def test_a_run_keeps_its_children_whatever_becomes_of_them(tmp_path: Path, era: Era) -> None:
    """The question stands three levels down; before each answer the server is killed and the definitions change."""
    workplace = Workplace(tmp_path, era)
    tally = Tally(workplace)
    path = ["outer", "between", "inner"]
    async with workplace.server() as server:
        asked = await server.run(await deploy(server))
        run_id = asked["run_id"]
        assert asked["interrupt"]["path"] == [*path, "first"]
        for name in ("leaf", "middle"):
            assert (await server.refuse("delete_artifact", artifact_id=name))["code"] == "artifact_in_use"
        server.kill()

    async with workplace.server() as server:
        again = await server.call("save_artifact", artifact_id="leaf", plan={**LEAF, "description": "Another leaf."})
        assert again["version"] == 2
        await server.call("delete_deployment", deployment_id="top")
        for name in family():
            await server.call("delete_artifact", artifact_id=name)
        second = await server.call("resume_run", run_id=run_id, resume_payload={"reply": "a"})
        trace = await server.call("read_run_trace", run_id=run_id, start=asked["trace_count"])
        server.kill()
    assert second["interrupt"]["path"] == [*path, "second"]
    assert second["interrupt"]["payload"] == {"first": "a"}
    assert [entry["path"] for entry in trace["entries"]] == [[*path, "first"], [*path, "second"]]

    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=run_id, resume_payload={"reply": "b"})
        drawn = workplace.wf("runs", "graph", run_id)
    assert (done["status"], done["output"]) == ("completed", {"result": "a"})
    assert tally.noted == ["leaf"]
    assert all(f"✓ {step_id}" in drawn.stdout for step_id in (*path, "before", "first", "second"))


async def test_a_binding_holds_for_the_children_too(workplace: Workplace) -> None:
    tally = Tally(workplace)
    workplace.configure(pythonSources={"desk": {"module": "tally", "path": "."}})
    async with workplace.server() as server:
        needed = [
            (await server.call("save_artifact", artifact_id=name, plan=document))["required_capabilities"]
            for name, document in family().items()
        ]
        assert needed == [["tally.note"]] * 3
        unbound = await server.call("create_deployment", deployment_id="unbound", artifact_id="top")
        bound = await server.call(
            "create_deployment", deployment_id="bound", artifact_id="top", bindings={"tally": "desk"}
        )
        asked = await server.run("bound")
    assert (unbound["runnable"], [found["code"] for found in unbound["diagnostics"]]) == (False, ["source_not_found"])
    assert (bound["runnable"], bound["diagnostics"]) == (True, [])
    assert asked["status"] == "interrupted"
    assert tally.noted == ["leaf"]


async def test_a_child_whose_source_changed_blocks_the_run_and_is_named(workplace: Workplace) -> None:
    tally = Tally(workplace)
    source = workplace.folder / "tally.py"
    before = source.read_text(encoding="utf-8")
    leaf = plan("leaf", ask=ask(to="note"), note=node("tally.note", result="result", what="done"))
    async with workplace.server() as server:
        await server.call("save_artifact", artifact_id="leaf", plan=leaf)
        run_id = (await server.run(await server.deploy(plan("top", run=child("leaf")))))["run_id"]
    answer = {"run_id": run_id, "resume_payload": {"reply": "go"}}

    workplace.write("tally.py", before.replace("what: str", "what: int"))
    async with workplace.server() as server:
        error = await server.refuse("resume_run", **answer)
    assert error["code"] == "run_blocked"
    assert "In leaf 1 at /steps/note/input" in error["message"]

    workplace.write("tally.py", before)
    async with workplace.server() as server:
        done = await server.call("resume_run", **answer)
    assert (done["output"], tally.noted) == ({"result": "DONE"}, ["done"])


async def test_a_plan_with_a_child_that_was_never_saved_is_refused(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.call("save_artifact", artifact_id="leaf", plan=LEAF)
        for name, hint in (("laef", "leaf"), ("leaf", "1")):
            flow = plan("top", run=child(name, version=4))
            error = await server.refuse("save_artifact", artifact_id="top", plan=flow)
            [issue] = [found for found in error["details"]["issues"] if found["severity"] == "error"]
            assert (issue["code"], issue["path"]) == ("unknown_child_artifact", "/steps/run/workflow")
            assert hint in issue["hint"]
