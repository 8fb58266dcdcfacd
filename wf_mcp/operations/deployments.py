"""Binding artifact versions to sources, under names by which they are run."""

from typing import Any, cast

from wf_artifacts.catalog.models import Deployment
from wf_core.ids import ArtifactId, DeploymentId
from wf_core.times import iso
from wf_mcp.app import App
from wf_mcp.execution import pins
from wf_mcp.operations.checks import check_limit, storable
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.models import (
    DeletedDeployment,
    DeploymentList,
    DeploymentRow,
    DeploymentView,
    Durability,
)
from wf_mcp.operations.policies import read_call_policy
from wf_mcp.operations.summaries import diagnose, unusable


async def create_deployment(
    app: App,
    *,
    deployment_id: str,
    artifact_id: str,
    version: int | None = None,
    bindings: dict[str, str] | None = None,
    durability: Durability = "steps",
    call_policy: dict[str, Any] | None = None,
    replace: bool = False,
) -> DeploymentView:
    """Bind an artifact version to sources: where none is named the newest, which is the one with the highest number.

    A plan that was saved before has its old version again, so what was saved last need not be the newest.
    A logical source that is not bound means the source of that name. A deployment that cannot run now is created all
    the same: its diagnostics say what is missing. With the durability `stops` a run is stored only where it stops, so
    that after a crash the steps since then may be carried out a second time. `call_policy` says which calls are left to
    the outside, isolated, cached or decorated.

    Raises:
        ArtifactNotFound, DeploymentExists, InvalidArgument, InvalidPolicy, StoreFull: nothing was created.
    """
    bound = storable(app, "bindings", bindings or {})
    policy = None if call_policy is None else read_call_policy(storable(app, "call_policy", call_policy))
    artifact = await app.stores.catalog.load_artifact(ArtifactId(artifact_id), version)
    now = app.clock.now()
    draft = Deployment(
        deployment_id=DeploymentId(deployment_id),
        artifact_id=artifact.artifact_id,
        artifact_version=artifact.version,
        bindings=cast("dict[str, str]", bound),
        call_policy=policy,
        durability=durability,
        created_at=now,
        updated_at=now,
    )
    return await _view(app, await app.stores.catalog.save_deployment(draft, replace=replace))


async def list_deployments(app: App, *, cursor: str | None = None, limit: int = 20) -> DeploymentList:
    """List deployments by id."""
    check_limit(limit)
    page = await app.stores.catalog.list_deployments(cursor=release(cursor, "deployments"), limit=limit)
    rows = [
        DeploymentRow(
            deployment_id=deployment.deployment_id,
            artifact_id=deployment.artifact_id,
            artifact_version=deployment.artifact_version,
            bindings=deployment.bindings,
            created_at=iso(deployment.created_at),
            updated_at=iso(deployment.updated_at),
        )
        for deployment in page.items
    ]
    return DeploymentList(
        deployments=rows,
        next_cursor=bind(page.next_cursor, "deployments"),
        diagnostics=[unusable(one.error) for one in page.damaged],
    )


async def inspect_deployment(app: App, *, deployment_id: str) -> DeploymentView:
    """Show a deployment, and validate it against what the sources offer now.

    Raises:
        DeploymentNotFound: names close ids.
    """
    return await _view(app, await app.stores.catalog.load_deployment(DeploymentId(deployment_id)))


async def delete_deployment(app: App, *, deployment_id: str) -> DeletedDeployment:
    """Delete a deployment. Its runs stay, and go on with what they started with.

    Raises:
        DeploymentNotFound: names close ids.
    """
    await app.stores.catalog.delete_deployment(DeploymentId(deployment_id))
    return DeletedDeployment(deployment_id=deployment_id)


async def _view(app: App, deployment: Deployment) -> DeploymentView:
    artifact = await app.stores.catalog.load_artifact(deployment.artifact_id, deployment.artifact_version)
    pinned = await pins.pin(app.registry, app.stores.catalog, artifact=artifact, deployment=deployment)
    runnable = pinned.environment is not None
    action = f'run_deployment(deployment_id="{deployment.deployment_id}", workflow_input=<what input_schema asks for>)'
    return DeploymentView(
        deployment_id=deployment.deployment_id,
        artifact_id=deployment.artifact_id,
        artifact_version=deployment.artifact_version,
        bindings=deployment.bindings,
        durability=deployment.durability,
        call_policy=deployment.call_policy,
        created_at=iso(deployment.created_at),
        updated_at=iso(deployment.updated_at),
        runnable=runnable,
        diagnostics=diagnose(pinned.issues),
        input_schema=artifact.plan.get("input_schema", {}),
        next_actions=[action] if runnable else [],
    )
