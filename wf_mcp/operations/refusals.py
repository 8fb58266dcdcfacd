"""What a start would refuse now: of the stored deployments, and of the agents that wf.json names."""

from collections.abc import AsyncIterator

from wf_artifacts.catalog.models import Deployment
from wf_artifacts.errors import ArtifactNotFound
from wf_artifacts.storage.pages import every
from wf_core.errors import StateError, WfError
from wf_mcp.app import App
from wf_mcp.config.agents import configured_file, find_agent
from wf_mcp.execution import pins
from wf_mcp.execution.agents import pin_agent
from wf_mcp.operations.models import Answer, Diagnostic
from wf_mcp.operations.summaries import diagnose, unusable


class Refusal(Answer):
    """Something that cannot be started."""

    name: str
    """`deployment ID`, or `agent SLUG`."""
    diagnostics: list[Diagnostic]
    """Every error that stands against it."""


async def refusals(app: App) -> AsyncIterator[Refusal]:
    """Judge everything that could be started, as its start would, without starting it.

    Left out is what an examination of the store names: what cannot be read, and what lacks its artifact.

    Raises:
        StoreUnavailable: the deployments cannot be listed.
    """
    async for deployment in every(app.stores.catalog.list_deployments):
        found = await _of_deployment(app, deployment)
        if found:
            yield Refusal(name=f"deployment {deployment.deployment_id}", diagnostics=found)
    for slug in app.config.agents:
        found = await _of_agent(app, slug)
        if found:
            yield Refusal(name=f"agent {slug}", diagnostics=found)


async def _of_deployment(app: App, deployment: Deployment) -> list[Diagnostic]:
    catalog = app.stores.catalog
    try:
        artifact = await catalog.load_artifact(deployment.artifact_id, deployment.artifact_version)
        pinned = await pins.pin(app.registry, catalog, artifact=artifact, deployment=deployment)
    except (ArtifactNotFound, StateError):
        return []  # an examination of the store names it
    except WfError as error:
        return [unusable(error)]
    return [one for one in diagnose(pinned.issues) if one.severity == "error"]


async def _of_agent(app: App, slug: str) -> list[Diagnostic]:
    try:
        agent = find_agent(configured_file(app.config, slug), slug)
        pinned = await pin_agent(app.registry, agent, origin={"config": slug})
    except WfError as error:
        return [unusable(error)]
    return [one for one in diagnose(pinned.issues) if one.severity == "error"]
