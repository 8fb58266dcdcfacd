"""What a run goes by."""

import anyio
import pytest

from tests.wf_mcp.scripted import ask, child, opened, plan, save, start
from wf_artifacts.errors import RunNotFound
from wf_core.ids import ArtifactId
from wf_mcp.operations.caller import Caller
from wf_mcp.operations.definitions import inspect_definitions

pytestmark = pytest.mark.anyio


async def test_the_plans_are_those_of_the_start_although_their_artifacts_are_gone() -> None:
    async with opened() as app:
        await save(app, "leaf", plan({"ask": ask()}))
        handle = await start(app, plan({"run": child("leaf")}))
        with anyio.fail_after(5):
            await app.runs.wait(handle, seconds=5)
        await app.stores.catalog.delete_artifact(ArtifactId("leaf"))
        found = await inspect_definitions(app, run_id=handle.run_id)
    assert list(found.plan.steps) == ["run"]
    assert {version: list(one.steps) for version, one in found.children.items()} == {("leaf", 1): ["ask"]}


async def test_the_definitions_of_somebody_elses_run_are_not_found() -> None:
    async with opened() as app:
        handle = await start(app, plan({"ask": ask()}))
        with pytest.raises(RunNotFound):
            await inspect_definitions(app, run_id=handle.run_id, caller=Caller(principal="ann"))
