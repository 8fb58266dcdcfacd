"""Binding artifact versions to sources."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.scripted import ScriptedSource, ask, node, opened, plan
from wf_artifacts.errors import ArtifactNotFound, DeploymentExists, DeploymentNotFound, InvalidId
from wf_artifacts.stores import open_stores
from wf_mcp.app import App
from wf_mcp.operations.artifacts import delete_artifact, save_artifact
from wf_mcp.operations.deployments import create_deployment, delete_deployment, inspect_deployment, list_deployments
from wf_mcp.operations.runs import resume_run, run_deployment

pytestmark = pytest.mark.anyio

ASK = plan({"ask": ask()}, input_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
CALL = plan({"do": node("desk.echo")})


async def saved(app: App) -> None:
    await save_artifact(app, artifact_id="asks", plan=plan({"ask": ask(kind="first")}))
    await save_artifact(app, artifact_id="asks", plan=ASK)
    await save_artifact(app, artifact_id="calls", plan=CALL)


async def test_the_newest_version_is_taken_when_none_is_named() -> None:
    async with opened() as app:
        await saved(app)
        newest = await create_deployment(app, deployment_id="new", artifact_id="asks")
        first = await create_deployment(app, deployment_id="old", artifact_id="asks", version=1)
    assert (newest.artifact_version, newest.runnable, newest.diagnostics) == (2, True, [])
    assert newest.input_schema == ASK["input_schema"]
    assert newest.next_actions == ['run_deployment(deployment_id="new", workflow_input=<what input_schema asks for>)']
    assert first.artifact_version == 1


async def test_a_source_that_is_missing_makes_it_unrunnable_until_it_is_there() -> None:
    """A plan whose sources are unknown can be saved and deployed; its deployment says what is missing."""
    desk = ScriptedSource("desk", enabled=False)
    async with opened(desk) as app:
        await saved(app)
        created = await create_deployment(app, deployment_id="calls", artifact_id="calls")
        desk.enabled = True
        later = await inspect_deployment(app, deployment_id="calls")
    assert (created.runnable, [one.code for one in created.diagnostics]) == (False, ["source_disabled"])
    assert created.next_actions == []
    assert (later.runnable, later.diagnostics) == (True, [])


async def test_bindings_name_sources_that_exist() -> None:
    async with opened(ScriptedSource("ops")) as app:
        await saved(app)
        good = await create_deployment(app, deployment_id="good", artifact_id="calls", bindings={"desk": "ops"})
        bad = await create_deployment(app, deployment_id="bad", artifact_id="calls", bindings={"desk": "opps"})
        idle = await create_deployment(
            app, deployment_id="idle", artifact_id="calls", bindings={"desk": "ops", "tesk": "ops"}
        )
    assert good.runnable
    assert not bad.runnable
    [missing] = bad.diagnostics
    assert missing.code == "source_not_found"
    assert "ops" in (missing.hint or "")
    assert (idle.runnable, [one.code for one in idle.diagnostics]) == (True, ["unused_binding"])


async def test_an_id_is_taken_once_unless_replacing_is_asked_for() -> None:
    async with opened() as app:
        await saved(app)
        await create_deployment(app, deployment_id="flow", artifact_id="asks")
        with pytest.raises(DeploymentExists):
            await create_deployment(app, deployment_id="flow", artifact_id="asks", version=1)
        assert (await inspect_deployment(app, deployment_id="flow")).artifact_version == 2
        replaced = await create_deployment(app, deployment_id="flow", artifact_id="asks", version=1, replace=True)
    assert replaced.artifact_version == 1


async def test_what_does_not_exist_is_not_found_and_close_names_are_told() -> None:
    async with opened() as app:
        await saved(app)
        await create_deployment(app, deployment_id="publish_notes", artifact_id="asks")
        with pytest.raises(DeploymentNotFound) as missing:
            await inspect_deployment(app, deployment_id="publsh_notes")
        assert missing.value.close == ("publish_notes",)
        with pytest.raises(ArtifactNotFound):
            await create_deployment(app, deployment_id="x", artifact_id="nothing")
        with pytest.raises(ArtifactNotFound):
            await create_deployment(app, deployment_id="x", artifact_id="asks", version=7)
        with pytest.raises(InvalidId):
            await create_deployment(app, deployment_id="../x", artifact_id="asks")
        with pytest.raises(DeploymentNotFound):
            await delete_deployment(app, deployment_id="nothing")


async def test_deployments_are_listed_page_by_page() -> None:
    async with opened() as app:
        await saved(app)
        for name in ("a", "b", "c"):
            await create_deployment(app, deployment_id=name, artifact_id="asks")
        await delete_deployment(app, deployment_id="b")
        first = await list_deployments(app, limit=1)
        rest = await list_deployments(app, cursor=first.next_cursor)
    assert [row.deployment_id for row in first.deployments + rest.deployments] == ["a", "c"]
    assert rest.next_cursor is None


def saying(text: str) -> dict[str, Any]:
    """Write a plan that says something once it was asked to."""
    say = node("wf.std.constant", input={"value": {"value": text}}, output={"state.said": "value"})
    said: dict[str, Any] = {"state_schema": {"properties": {"said": {}}}, "output": {"said": {"path": "state.said"}}}
    return plan({"ask": ask("say"), "say": say}, **said)


async def deploy(app: App, document: dict[str, Any]) -> None:
    await save_artifact(app, artifact_id="flow", plan=document)
    await create_deployment(app, deployment_id="flow", artifact_id="flow", replace=True)


async def test_a_start_runs_what_another_process_has_deployed_meanwhile(tmp_path: Path) -> None:
    """And a run that waits goes on with what it was started with."""
    here, there = open_stores(tmp_path.as_uri()), open_stores(tmp_path.as_uri())
    async with opened(stores=here) as app, opened(stores=there) as elsewhere:
        await deploy(app, saying("first"))
        asked = [await run_deployment(app, deployment_id="flow") for _ in range(2)]
        await deploy(elsewhere, saying("second"))
        asked.append(await run_deployment(app, deployment_id="flow"))
        await delete_deployment(elsewhere, deployment_id="flow")
        await delete_artifact(elsewhere, artifact_id="flow")
        with pytest.raises(DeploymentNotFound):
            await run_deployment(app, deployment_id="flow")
        await deploy(elsewhere, saying("third"))
        asked.append(await run_deployment(app, deployment_id="flow"))
        done = [await resume_run(app, run_id=one.run_id or "") for one in asked]
    assert [one.output for one in done] == [{"said": text} for text in ("first", "first", "second", "third")]
    assert [one.artifact_version for one in done] == [1, 1, 2, 3]


async def test_a_start_runs_what_stands_under_a_number_now(tmp_path: Path) -> None:
    """Also where a folder was removed by hand, so that a number is given twice."""
    here, there = open_stores(tmp_path.as_uri()), open_stores(tmp_path.as_uri())
    async with opened(stores=here) as app, opened(stores=there) as elsewhere:
        await deploy(app, saying("first"))
        asked = [await run_deployment(app, deployment_id="flow")]
        shutil.rmtree(tmp_path / "artifacts" / "flow")
        await deploy(elsewhere, saying("second"))
        asked.append(await run_deployment(app, deployment_id="flow"))
        done = [await resume_run(app, run_id=one.run_id or "") for one in asked]
    assert [(one.artifact_version, one.output) for one in done] == [(1, {"said": "first"}), (1, {"said": "second"})]
