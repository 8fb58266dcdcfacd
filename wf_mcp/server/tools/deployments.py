"""Tools for deployments: artifact versions bound to sources, ready to run."""

from typing import Annotated, Any

from pydantic import Field

from wf_mcp import operations
from wf_mcp.operations.models import DeletedDeployment, DeploymentList, DeploymentView, Durability
from wf_mcp.server.arguments import Cursor, Limit, WholeNumber
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ASKS_SOURCES, DELETES, READS, WorkflowTool
from wf_mcp.server.tools.artifacts import ArtifactId

DeploymentId = Annotated[str, Field(description="Letters, digits, dot, dash and underscore.")]


async def create_deployment(
    call: ToolCall,
    deployment_id: DeploymentId,
    artifact_id: ArtifactId,
    version: Annotated[WholeNumber | None, Field(ge=1, description="The newest when left out.")] = None,
    bindings: Annotated[
        dict[str, str] | None,
        Field(description="Source name in the plan -> configured source, where they differ."),
    ] = None,
    durability: Annotated[
        Durability,
        Field(description="stops: faster, but a crash may repeat what was done since the last stop."),
    ] = "steps",
    call_policy: Annotated[
        dict[str, Any] | None,
        Field(
            description='{"default": D, "rules": [{"tool": name or glob, "disposition": D}]}; D is {"tag": runSync, '
            "defer (reason, approval?, expiresSeconds?), runIsolated (spec?) or decorate (decorators, inner)}."
        ),
    ] = None,
    replace: Annotated[bool, Field(description="Take the place of a deployment of this id.")] = False,
) -> DeploymentView:
    """Make an artifact version runnable under a name, bound to sources. Use it after save_artifact.

    runnable and diagnostics say whether it can run now. Runs that have started are not changed by it.
    """
    return await operations.deployments.create_deployment(
        call.app,
        deployment_id=deployment_id,
        artifact_id=artifact_id,
        version=version,
        bindings=bindings,
        durability=durability,
        call_policy=call_policy,
        replace=replace,
    )


async def list_deployments(call: ToolCall, cursor: Cursor = None, limit: Limit = 20) -> DeploymentList:
    """List the workflows that can be run. Use it first when the user wants something done that may be a workflow."""
    return await operations.deployments.list_deployments(call.app, cursor=cursor, limit=limit)


async def inspect_deployment(call: ToolCall, deployment_id: DeploymentId) -> DeploymentView:
    """Show a deployment and whether it can run now. Use it before run_deployment, or when a run was unrunnable."""
    return await operations.deployments.inspect_deployment(call.app, deployment_id=deployment_id)


async def delete_deployment(call: ToolCall, deployment_id: DeploymentId) -> DeletedDeployment:
    """Delete a deployment. Use it only when the user asks for it. Its runs stay, and paused ones can still go on."""
    return await operations.deployments.delete_deployment(call.app, deployment_id=deployment_id)


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    # `replace` takes the place of what was there.
    deploys = DELETES.model_copy(update={"open_world_hint": True})
    return [
        WorkflowTool.of(create_deployment, title="Deploy an artifact", annotations=deploys),
        WorkflowTool.of(list_deployments, title="List deployments", annotations=READS),
        WorkflowTool.of(inspect_deployment, title="Inspect a deployment", annotations=ASKS_SOURCES),
        WorkflowTool.of(delete_deployment, title="Delete a deployment", annotations=DELETES),
    ]
