"""Checking plans, and keeping them as numbered versions."""

from typing import Any

import pytest

from tests.wf_mcp.scripted import ScriptedSource, ask, child, node, opened, plan, save
from wf_artifacts.errors import ArtifactInUse, ArtifactNotFound, InvalidId
from wf_core.calls.contract import Contract
from wf_core.errors import InvalidPlan
from wf_core.ids import ArtifactId
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.operations import artifacts, deployments

pytestmark = pytest.mark.anyio

ASK = plan({"ask": ask()}, description="Ask.")
OTHER = plan({"ask": ask(kind="other")})


async def test_validating_reports_every_issue_and_stores_nothing() -> None:
    broken = {"name": "flow", "start": "nowhere", "steps": {"go": node("ops.echo", "gone"), "x": {"type": "what"}}}
    async with opened(ScriptedSource()) as app:
        result = await artifacts.validate_workflow(app, plan=broken)
        assert (await artifacts.list_artifacts(app)).artifacts == []
    assert not result.valid
    codes = {issue.code for issue in result.issues}
    assert {"unknown_start", "unknown_route_target"} <= codes
    assert all(issue.path for issue in result.issues)


async def test_steps_are_checked_against_the_sources_that_are_known() -> None:
    source = ScriptedSource(contracts={"echo": Contract({"type": "object", "required": ["text"]})})
    async with opened(source) as app:
        result = await artifacts.validate_workflow(app, plan=plan({"a": node("ops.echo", "b"), "b": node("ops.eco")}))
    assert {issue.code for issue in result.issues} == {"missing_capability_input", "unknown_capability"}


async def test_saving_gives_the_version_and_what_the_plan_needs() -> None:
    async with opened() as app:
        saved = await artifacts.save_artifact(app, artifact_id="flow", plan=plan({"a": node("nobody.knows")}))
        again = await artifacts.save_artifact(app, artifact_id="flow", plan=plan({"a": node("nobody.knows")}))
        changed = await artifacts.save_artifact(app, artifact_id="flow", plan=ASK)
    assert (saved.version, saved.required_capabilities) == (1, ["nobody.knows"])
    assert again.version == 1
    assert changed.version == 2
    assert saved.digest == again.digest != changed.digest


async def test_what_is_said_to_do_next_with_an_older_plan_that_was_saved_again_deploys_that_plan() -> None:
    """Who goes back to an older plan would deploy the newer one otherwise, and not be told."""
    async with opened() as app:
        for document in (OTHER, ASK, OTHER):
            saved = await artifacts.save_artifact(app, artifact_id="flow", plan=document)
        newest = await deployments.create_deployment(app, deployment_id="newest", artifact_id="flow")
    assert saved.next_actions == ['create_deployment(deployment_id=<name>, artifact_id="flow", version=1)']
    assert newest.artifact_version == 2


async def test_a_plan_needs_what_its_children_need() -> None:
    async with opened() as app:
        await save(app, "leaf", plan({"a": node("inner.most")}))
        await save(app, "middle", plan({"run": child("leaf", "b"), "b": node("in.between")}))
        saved = await artifacts.save_artifact(app, artifact_id="top", plan=plan({"run": child("middle")}))
    assert saved.required_capabilities == ["in.between", "inner.most"]


async def test_a_child_that_was_not_saved_and_a_child_that_does_not_fit_are_issues() -> None:
    strict: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {}},
        "required": ["n"],
        "additionalProperties": False,
    }
    async with opened() as app:
        await save(app, "leaf", plan({"ask": ask()}, input_schema=strict, outcomes=["ok", "late"]))
        result = await artifacts.validate_workflow(app, plan=plan({"a": child("leaf", "b"), "b": child("laef")}))
    assert {(issue.code, issue.path) for issue in result.issues} == {
        ("missing_capability_input", "/steps/a"),
        ("missing_route", "/steps/a/routes"),
        ("unknown_child_artifact", "/steps/b/workflow"),
    }
    assert "leaf" in str(result.issues[-1].hint)


async def test_a_stored_plan_that_contains_itself_is_found() -> None:
    """No plan can be saved that does; a folder that was written by hand may hold one."""
    async with opened() as app:
        for number in (1, 2):
            await app.stores.catalog.save_artifact(
                ArtifactId("loop"),
                plan({"run": child("loop", version=3 - number)}),
                description="",
                required_capabilities=(),
                now=app.clock.now(),
            )
        result = await artifacts.validate_workflow(app, plan=plan({"run": child("loop")}))
    assert [issue.code for issue in result.issues] == ["subgraph_cycle"]


async def test_a_child_of_what_is_deployed_is_not_deleted() -> None:
    async with opened() as app:
        await save(app, "leaf", ASK)
        await save(app, "middle", plan({"run": child("leaf")}))
        await save(app, "top", plan({"run": child("middle")}))
        created = await deployments.create_deployment(app, deployment_id="top", artifact_id="top")
        with pytest.raises(ArtifactInUse):
            await artifacts.delete_artifact(app, artifact_id="leaf")
    assert (created.runnable, created.diagnostics) == (True, [])


async def test_a_plan_that_does_not_validate_is_not_saved_and_every_issue_is_told() -> None:
    async with opened() as app:
        with pytest.raises(InvalidPlan) as refused:
            await artifacts.save_artifact(app, artifact_id="flow", plan={"name": "flow", "stepz": {}})
        assert {issue["code"] for issue in refused.value.issues} >= {"missing_key", "unknown_key"}
        with pytest.raises(InvalidPlan):
            await artifacts.save_artifact(app, artifact_id="flow", plan=["no", "plan"])
        with pytest.raises(ArtifactNotFound):
            await artifacts.inspect_artifact(app, artifact_id="flow")


async def test_an_id_that_is_no_id_and_a_plan_that_is_too_long_are_refused() -> None:
    async with opened(max_bytes=200) as app:
        with pytest.raises(InvalidId) as refused:
            await artifacts.save_artifact(app, artifact_id="../x", plan=ASK)
        assert refused.value.code == "invalid_argument"
        with pytest.raises(TooLarge):
            await artifacts.save_artifact(app, artifact_id="x", plan=ASK | {"description": "long " * 50})


async def test_secrets_in_a_plan_are_not_stored() -> None:
    async with opened() as app:
        app.redactor.add("hunter22")
        await artifacts.save_artifact(app, artifact_id="flow", plan=ASK | {"description": "with hunter22"})
        shown = await artifacts.inspect_artifact(app, artifact_id="flow")
    assert "hunter22" not in shown.model_dump_json()
    assert shown.description == "with [redacted]"


async def test_any_version_is_shown_and_the_newest_when_none_is_named() -> None:
    async with opened() as app:
        await artifacts.save_artifact(app, artifact_id="flow", plan=ASK)
        await artifacts.save_artifact(app, artifact_id="flow", plan=OTHER, description="Another.")
        first = await artifacts.inspect_artifact(app, artifact_id="flow", version=1)
        newest = await artifacts.inspect_artifact(app, artifact_id="flow")
    assert (first.version, first.plan, first.description) == (1, ASK, "Ask.")
    assert (newest.version, newest.plan, newest.description) == (2, OTHER, "Another.")


async def test_artifacts_are_listed_page_by_page() -> None:
    async with opened() as app:
        for name in ("a", "b", "c"):
            await artifacts.save_artifact(app, artifact_id=name, plan=ASK)
        await artifacts.save_artifact(app, artifact_id="a", plan=OTHER)
        first = await artifacts.list_artifacts(app, limit=2)
        rest = await artifacts.list_artifacts(app, cursor=first.next_cursor, limit=2)
        with pytest.raises(InvalidArgument):
            await artifacts.list_artifacts(app, limit=0)
    assert [(row.artifact_id, row.version, row.versions) for row in first.artifacts] == [
        ("a", 2, [1, 2]),
        ("b", 1, [1]),
    ]
    assert [row.artifact_id for row in rest.artifacts] == ["c"]
    assert rest.next_cursor is None


async def test_what_a_deployment_needs_is_not_deleted() -> None:
    async with opened() as app:
        await artifacts.save_artifact(app, artifact_id="flow", plan=ASK)
        await deployments.create_deployment(app, deployment_id="flow", artifact_id="flow")
        with pytest.raises(ArtifactInUse):
            await artifacts.delete_artifact(app, artifact_id="flow")
        await deployments.delete_deployment(app, deployment_id="flow")
        deleted = await artifacts.delete_artifact(app, artifact_id="flow")
        with pytest.raises(ArtifactNotFound):
            await artifacts.inspect_artifact(app, artifact_id="flow")
    assert (deleted.artifact_id, deleted.version) == ("flow", None)
