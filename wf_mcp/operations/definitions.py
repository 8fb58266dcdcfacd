"""What a run goes by: the plans that it was started with, whatever became of their artifacts since."""

from collections.abc import Mapping
from dataclasses import dataclass

from wf_core.ids import RunId
from wf_core.plan import WorkflowPlan
from wf_mcp.app import App
from wf_mcp.operations.caller import LOCAL_MODEL, Caller


@dataclass(frozen=True, slots=True)
class RunDefinitions:
    """The plans that a run was started with."""

    plan: WorkflowPlan
    children: Mapping[tuple[str, int], WorkflowPlan]
    """Artifact and version -> every saved plan that the plan reaches through its subgraphs."""


async def inspect_definitions(app: App, *, run_id: str, caller: Caller = LOCAL_MODEL) -> RunDefinitions:
    """Give the plan of a run and its children.

    Raises:
        RunNotFound: there is no run of that id.
    """
    record = await app.stores.runs.load(RunId(run_id), principal=caller.principal)
    environment = await app.stores.runs.load_environment(record.run_id)
    return RunDefinitions(
        WorkflowPlan.model_validate(environment.artifact.plan),
        {(child.artifact_id, child.version): WorkflowPlan.model_validate(child.plan) for child in environment.children},
    )
