"""The saved plans that a plan runs as steps, however deep."""

from typing import Any

import pytest

from tests.wf_mcp.scripted import artifact, ask, child, deployment, opened, plan, save
from wf_artifacts.catalog.definitions import Definition
from wf_artifacts.catalog.references import ArtifactRef
from wf_core.ids import ArtifactId
from wf_core.validation.children import Absent
from wf_mcp.execution.children import descend, descendants_of

pytestmark = pytest.mark.anyio


async def test_every_version_that_is_reached_is_loaded_once_and_the_plan_itself_is_left_out() -> None:
    async with opened() as app:
        await save(app, "leaf", plan({"ask": ask()}))
        await save(app, "middle", plan({"one": child("leaf", "two"), "two": child("leaf")}))
        in_place = {"type": "subgraph", "workflow": {"plan": plan({"x": child("middle")})}, "routes": {"ok": "leaf"}}
        found = await descend(app.stores.catalog, plan({"inner": in_place, "leaf": child("leaf")}))
    assert [(one.artifact_id, one.version) for one in found.artifacts] == [("middle", 1), ("leaf", 1)]
    assert found.absent == {}
    assert found.plans["leaf", 1] == plan({"ask": ask()})


async def test_what_does_not_exist_is_told_with_what_there_is() -> None:
    async with opened() as app:
        await save(app, "leaf", plan({"ask": ask()}))
        steps: dict[str, Any] = {"a": child("leaf", version=7), "b": child("laef"), "c": child("../leaf")}
        found = await descend(app.stores.catalog, plan(steps))
    assert found.artifacts == ()
    hints = {version: absent.hint for version, absent in found.absent.items()}
    assert hints["leaf", 7] == "It has 1."
    assert "leaf" in str(hints["laef", 1])
    assert set(hints) == {("leaf", 7), ("laef", 1), ("../leaf", 1)}
    assert found.plans["laef", 1] == Absent(hints["laef", 1])


@pytest.mark.parametrize("version", [0, -1, 10**30])
async def test_a_number_that_no_version_has_is_not_looked_for(version: int) -> None:
    async with opened() as app:
        assert (await descend(app.stores.catalog, plan({"a": child("leaf", version=version)}))).plans == {}


@pytest.mark.parametrize("document", [{}, {"steps": 5}, {"steps": {"a": 5, "b": {"type": "subgraph", "workflow": 5}}}])
async def test_what_is_no_plan_reaches_nothing(document: dict[str, Any]) -> None:
    async with opened() as app:
        assert (await descend(app.stores.catalog, document)).plans == {}


async def test_what_was_read_with_a_deployment_is_not_read_again() -> None:
    async with opened() as app, opened() as empty:
        leaf = await save(app, "leaf", plan({"ask": ask()}))
        flow = await save(app, "flow", plan({"run": child("leaf")}))
        definition = Definition(deployment(), flow, {ArtifactRef(ArtifactId("leaf"), 1): leaf})
        found = await descendants_of(empty.stores.catalog, definition)
    assert (found.artifacts, found.absent) == ((leaf,), {})


async def test_of_what_was_missing_with_a_deployment_it_is_told_what_there_is() -> None:
    async with opened() as app:
        await save(app, "leaf", plan({"ask": ask()}))
        flow = artifact(plan({"run": child("leaf"), "more": child("leaf", version=7)}))
        missing = {ArtifactRef(ArtifactId("leaf"), version): None for version in (1, 7)}
        found = await descendants_of(app.stores.catalog, Definition(deployment(), flow, missing))
    assert [one.artifact_id for one in found.artifacts] == ["leaf"]
    assert {version: absent.hint for version, absent in found.absent.items()} == {("leaf", 7): "It has 1."}
