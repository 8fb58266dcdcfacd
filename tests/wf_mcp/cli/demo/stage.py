"""A place with a deployed plan that asks one question, for the processes of the demo."""

from pathlib import Path
from typing import Any

from wf_mcp.app import App
from wf_mcp.cli.place import Place
from wf_mcp.operations import artifacts, deployments

PLAN: dict[str, Any] = {
    "name": "ask",
    "start": "note",
    "steps": {
        "note": {"type": "node", "use": "wf.std.constant", "input": {"value": {"value": 1}}, "routes": {"ok": "ask"}},
        "ask": {"type": "interrupt", "kind": "question", "routes": {"submitted": "__end__"}},
    },
}


async def set_up(folder: Path) -> Place:
    """Deploy the plan as `ask`."""
    config = folder / "wf.json"
    config.write_text("{}", encoding="utf-8")
    async with App.open(home=folder / "home", config=config) as wf:
        await artifacts.save_artifact(wf, artifact_id="ask", plan=PLAN)
        await deployments.create_deployment(wf, deployment_id="ask", artifact_id="ask")
    return Place(home=folder / "home", config=config)
