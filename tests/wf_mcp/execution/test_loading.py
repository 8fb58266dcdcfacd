"""A stored run made ready to go on: the same course again, whatever the sources say by now."""

from dataclasses import replace
from typing import Any, cast

import anyio
import pytest

from tests.wf_mcp.execution.listed import Listed
from tests.wf_mcp.scripted import (
    Gate,
    ScriptedSource,
    ask,
    echo,
    environment,
    interrupted,
    node,
    opened,
    plan,
    start,
    stopped,
)
from wf_artifacts.runs.store import RunStore
from wf_artifacts.stores import Stores
from wf_core.calls.contract import Contract, Hints
from wf_core.errors import StateCorrupt
from wf_core.ids import RunId
from wf_core.jsonvalue import JsonSchema
from wf_core.runtime import Answer
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.loading import manner

pytestmark = pytest.mark.anyio

READS = Contract(hints=Hints(read_only=True))
TWO = plan({"first": node("ops.echo", "second"), "second": node("ops.do")})


def source(gate: Gate, answers: JsonSchema = True) -> ScriptedSource:
    contracts = {"echo": Contract(output_schema=answers, hints=Hints(read_only=True)), "do": READS}
    return ScriptedSource(acts={"echo": echo, "do": gate}, contracts=contracts)


async def left_behind(stores: Stores) -> RunId:
    """Start a run, and end its process in the middle of its second step."""
    gate = Gate()
    async with opened(source(gate, {"type": "object"}), stores=stores) as app:
        handle = await start(app, TWO)
        with anyio.fail_after(5):
            await gate.entered.wait()
    return handle.run_id


async def test_a_contract_that_changed_harmlessly_meanwhile_does_not_lead_the_replay_astray(stores: Stores) -> None:
    """The first answer is judged again as it was judged then, although by now such an answer would be refused."""
    run_id = await left_behind(stores)
    gate = Gate()
    gate.opened.set()
    async with opened(source(gate, {"type": "object", "required": ["more"]}), stores=stores) as app:
        assert await stopped(app, await app.runs.take_over(run_id)) == "completed"
        entries = await stores.runs.read_trace(run_id, 0, 5)
    assert [entry["outcome"] for entry in entries] == ["ok", "ok"]


async def test_a_journal_of_another_course_is_refused_and_left_alone(stores: Stores) -> None:
    run_id = await left_behind(stores)

    class Astray:
        def __getattr__(self, name: str) -> Any:
            return getattr(stores.runs, name)

        async def load_journal(self, run_id: RunId) -> list[bytes]:
            return (await stores.runs.load_journal(run_id))[1:]

    astray = replace(stores, runs=cast("RunStore", Astray()))
    async with opened(source(Gate()), stores=astray) as app:
        with pytest.raises(StateCorrupt):
            await app.runs.take_over(run_id)
    assert (await stores.runs.load_checkpoint(run_id)).reason == "started"
    assert len(await stores.runs.load_journal(run_id)) == 2


async def test_a_run_goes_on_by_what_its_sources_offer_when_it_is_answered() -> None:
    """A server that changed its tools without a word would be called under a contract that is gone."""
    desk = Listed("ops", acts={"echo": echo})
    async with opened(desk) as app:
        run_id = await interrupted(app, plan({"ask": ask("do"), "do": node("ops.echo")}))
        assert desk.said is not None
        del desk.acts["echo"]
        with pytest.raises(RunBlocked):
            await app.runs.answer(run_id, Answer({}))
    assert desk.calls == []


async def test_inputs_that_a_replay_would_judge_otherwise_are_not_kept_for_one() -> None:
    async with opened(source(Gate())) as app:
        pinned = await environment(app, TWO)
    same = pins.pinned_contracts(pinned)
    other = same | {"ops.do": Contract(output_schema={"type": "object"})}
    stops = pinned.model_copy(update={"deployment": pinned.deployment.model_copy(update={"durability": "stops"})})
    assert [manner(pinned, same), manner(pinned, other), manner(stops, same)] == ["appended", "whole", "stops"]
