"""The source `workflows`: each deployment is a capability, for agents and for other workflows. A call is a run.

The run's idempotency key follows from the call, so a call that is made again attaches to the same run. While it waits
for somebody, so does the call.
"""

import math
from collections.abc import Mapping
from typing import Any

from wf_artifacts.catalog.models import Deployment
from wf_artifacts.errors import DeploymentNotFound, RunBusy, RunNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.sources.models import Capability, contract_digest
from wf_artifacts.storage.pages import every
from wf_artifacts.stores import Stores
from wf_core.calls.capability import CallContext
from wf_core.calls.contract import ERROR_OUTCOME, Contract, Hints
from wf_core.errors import WfError
from wf_core.ids import DeploymentId
from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.callees.family import WORKFLOWS, owner_of, require_shallow
from wf_mcp.execution.runs import Handle, RunDriver
from wf_mcp.sources.protocol import (
    CallDeferred,
    CalleeGone,
    CallFailed,
    CallResult,
    SourceKind,
    SourceStatus,
    SourceUnavailable,
)
from wf_mcp.sources.registry import SourceRegistry

_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"run_id": {"type": "string"}, "outcome": {"type": "string"}, "output": {}},
    "required": ["run_id", "outcome", "output"],
}


class WorkflowsSource:
    """Offers every deployment."""

    name = WORKFLOWS
    kind: SourceKind = "workflows"
    enabled = True

    def __init__(self, registry: SourceRegistry, stores: Stores, runs: RunDriver) -> None:
        self._registry = registry
        self._stores = stores
        self._runs = runs

    async def capabilities(self) -> Mapping[str, Capability]:
        offered: dict[str, Capability] = {}
        try:
            async for deployment in every(self._stores.catalog.list_deployments):
                offered[deployment.deployment_id] = await self._capability(deployment)
        except WfError as error:
            raise SourceUnavailable(WORKFLOWS, error.message, hint=error.hint) from error
        return offered

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        try:
            handle = await self._started(DeploymentId(capability), dict(input), context)
            if handle.live is None:
                handle = await self._runs.take_over(handle.run_id)
            await self._runs.wait(handle, seconds=math.inf)
        except (RunBusy, RunBlocked) as error:
            raise CallDeferred(error.message) from error
        except RunNotFound as error:
            raise CalleeGone(f"the run {error.run_id}") from error
        except CallFailed:
            raise
        except WfError as error:
            raise CallFailed(error.code, error.message, executed=True, hint=error.hint) from error
        return answer(await self._stores.runs.load(handle.run_id))

    def status(self) -> SourceStatus:
        return SourceStatus(WORKFLOWS, self.kind, True, "ready", None, ())

    async def close(self) -> None:
        pass

    async def _capability(self, deployment: Deployment) -> Capability:
        artifact = await self._stores.catalog.load_artifact(deployment.artifact_id, deployment.artifact_version)
        schema: JsonSchema = artifact.plan.get("input_schema", {"type": "object"})
        contract = Contract(schema, _OUTPUT, ("ok", ERROR_OUTCOME), Hints(idempotent=True))
        name, digest = deployment.deployment_id, contract_digest(contract)
        return Capability(WORKFLOWS, name, "", artifact.description, contract, digest)

    async def _started(self, name: DeploymentId, given: JsonValue, context: CallContext) -> Handle:
        """Give the run of a call, started now or earlier."""
        owner, key = await owner_of(self._stores, context.run_id), context.idempotency_key
        found = await self._runs.earlier(name, given, principal=owner.principal, idempotency_key=key)
        if found is not None:
            return found
        if context.put_off:
            raise CalleeGone(f"the run of {WORKFLOWS}.{name} that this call began")
        await require_shallow(self._stores, context, owner)
        try:
            definition = await self._stores.catalog.load_definition(name)
        except DeploymentNotFound as error:
            raise CallFailed.before(error) from error
        pinned = await pins.pin_definition(self._registry, self._stores.catalog, definition)
        if pinned.environment is None:
            told = "; ".join(issue.message for issue in pinned.issues)
            raise CallFailed("unrunnable", f"The workflow {name} cannot be run: {told}", executed=False)
        try:
            return await self._runs.start(
                pinned.environment, given, principal=owner.principal, idempotency_key=context.idempotency_key
            )
        except WfError as error:
            raise CallFailed.before(error) from error


def answer(record: RunRecord) -> CallResult:
    """Give what a run says to whoever called it.

    Raises:
        CallDeferred: it is not over; the reason says what it waits for.
    """
    match record.status:
        case "completed":
            return CallResult("ok", {"run_id": record.run_id, "outcome": record.outcome, "output": record.output})
        case "failed" | "cancelled":
            error = record.error or {"code": record.status, "message": f"The run was {record.status}."}
            told = f"{error['code']}: {error['message']}"
            return CallResult(ERROR_OUTCOME, {"message": told, "run_id": record.run_id})
        case _:
            raise CallDeferred(f"the run {record.run_id} {_waits_for(record)}")


def _waits_for(record: RunRecord) -> str:
    asked = [f"asks {one['kind']} at {one['step_id']} ({one['id']})" for one in record.interrupts]
    waits = [f"waits for {one['capability']} at {one['step_id']}" for one in record.pending_calls]
    return "; ".join([*asked, *waits][:3]) or "is under way"
