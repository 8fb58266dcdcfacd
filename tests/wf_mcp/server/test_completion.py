"""Completion of ids."""

from pathlib import Path

import pytest
from mcp.types import PromptReference, ResourceTemplateReference

from tests.wf_mcp.server.connected import ASK, Era, connected

pytestmark = pytest.mark.anyio


async def test_ids_are_completed_in_prompts_and_resource_templates(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        deployment = await server.deploy(ASK)
        run_id = (await server.call("run_deployment", deployment_id=deployment))["run_id"]
        asked = [
            (PromptReference(type="ref/prompt", name="debug_run"), "run_id", "run_"),
            (
                ResourceTemplateReference(type="ref/resource", uri="wf://deployments/{deployment_id}"),
                "deployment_id",
                "a",
            ),
            (ResourceTemplateReference(type="ref/resource", uri="wf://runs/{run_id}"), "run_id", "nothing"),
            (PromptReference(type="ref/prompt", name="author_workflow"), "task", "a"),
        ]
        answers = [
            (await server.client.complete(ref, {"name": name, "value": value})).completion.values
            for ref, name, value in asked
        ]

    assert answers == [[run_id], ["ask"], [], []]


async def test_versions_are_those_of_the_artifact_that_was_chosen(tmp_path: Path, era: Era) -> None:
    ref = ResourceTemplateReference(type="ref/resource", uri="wf://artifacts/{artifact_id}/{version}")
    async with connected(tmp_path, era) as server:
        await server.call("save_artifact", artifact_id="a", plan=ASK)
        await server.call("save_artifact", artifact_id="a", plan=ASK | {"description": "the second"})
        answer = await server.client.complete(ref, {"name": "version", "value": ""}, {"artifact_id": "a"})

    assert answer.completion.values == ["2", "1"]
