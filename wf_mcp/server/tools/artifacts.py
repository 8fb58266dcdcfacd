"""Tools for plans and the artifacts that hold them."""

from typing import Annotated

from pydantic import Field

from wf_mcp import operations
from wf_mcp.operations.models import ArtifactList, ArtifactView, DeletedArtifact, SavedArtifact, ValidationResult
from wf_mcp.server.arguments import Cursor, JsonObject, Limit, WholeNumber
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ASKS_SOURCES, DELETES, READS, WorkflowTool

Plan = Annotated[
    JsonObject, Field(description="The workflow plan; wf://guide/authoring and wf://schema/plan explain it.")
]
ArtifactId = Annotated[str, Field(description="Letters, digits, dot, dash and underscore.")]


async def validate_workflow(call: ToolCall, plan: Plan) -> ValidationResult:
    """Check a plan without saving it. Use it while writing: it finds every issue at once, with its place and a hint."""
    return await operations.artifacts.validate_workflow(call.app, plan=plan)


async def save_artifact(
    call: ToolCall, artifact_id: ArtifactId, plan: Plan, description: str | None = None
) -> SavedArtifact:
    """Save a plan as the next version of an artifact. Use it when validate_workflow finds no errors.

    Versions never change: the same plan again gives the same version. Deploy it with create_deployment to run it.
    """
    return await operations.artifacts.save_artifact(
        call.app, artifact_id=artifact_id, plan=plan, description=description
    )


async def list_artifacts(call: ToolCall, cursor: Cursor = None, limit: Limit = 20) -> ArtifactList:
    """List saved workflows with their versions. Use it to find what can be deployed."""
    return await operations.artifacts.list_artifacts(call.app, cursor=cursor, limit=limit)


async def inspect_artifact(
    call: ToolCall,
    artifact_id: ArtifactId,
    version: Annotated[WholeNumber | None, Field(ge=1, description="The newest when left out.")] = None,
) -> ArtifactView:
    """Show one version of an artifact with its plan. Use it to read or change an existing workflow."""
    return await operations.artifacts.inspect_artifact(call.app, artifact_id=artifact_id, version=version)


async def delete_artifact(
    call: ToolCall,
    artifact_id: ArtifactId,
    version: Annotated[WholeNumber | None, Field(ge=1, description="Every version when left out.")] = None,
) -> DeletedArtifact:
    """Delete a version of an artifact, or all of them. Use it only when the user asks for it.

    Refused while a deployment refers to it. Runs keep the plan they started with.
    """
    return await operations.artifacts.delete_artifact(call.app, artifact_id=artifact_id, version=version)


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    saves = DELETES.model_copy(update={"destructive_hint": False, "open_world_hint": True})
    return [
        WorkflowTool.of(validate_workflow, title="Validate a plan", annotations=ASKS_SOURCES),
        WorkflowTool.of(save_artifact, title="Save a plan", annotations=saves),
        WorkflowTool.of(list_artifacts, title="List artifacts", annotations=READS),
        WorkflowTool.of(inspect_artifact, title="Inspect an artifact", annotations=READS),
        WorkflowTool.of(delete_artifact, title="Delete an artifact", annotations=DELETES),
    ]
