"""Runs whose deployment has a call policy."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.wf_mcp.scripted import ScriptedSource, node, opened, plan, save
from wf_artifacts.stores import Stores
from wf_core.calls.contract import Contract
from wf_mcp.app import App
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.models import RunSummary
from wf_mcp.operations.runs import run_deployment

PAY = plan(
    {"pay": node("ops.pay", input={"amount": {"path": "input.amount"}}, output={"state.receipt": "receipt"})},
    state_schema={"properties": {"receipt": {}}},
    output={"receipt": {"path": "state.receipt"}},
)
CONTRACTS = {"pay": Contract(output_schema={"type": "object", "required": ["receipt"]})}
DEFER: dict[str, Any] = {"tag": "defer", "reason": "the bank does it"}
APPROVAL: dict[str, Any] = {"tag": "defer", "reason": "costs money", "approval": True}


async def pays(given: dict[str, Any]) -> Any:
    return {"receipt": f"paid {given['amount']}"}


@asynccontextmanager
async def paying(
    how: dict[str, Any], stores: Stores | None = None, **more: Any
) -> AsyncGenerator[tuple[App, RunSummary]]:
    """Give a run that pays, of a deployment whose policy says how."""
    ops = ScriptedSource(acts={"pay": pays}, contracts=CONTRACTS)
    async with opened(ops, stores=stores, **more) as app:
        await save(app, "pay", PAY)
        policy = {"rules": [{"tool": "pay", "disposition": how}]}
        await create_deployment(app, deployment_id="pay", artifact_id="pay", call_policy=policy)
        yield app, await run_deployment(app, deployment_id="pay", workflow_input={"amount": 3})
