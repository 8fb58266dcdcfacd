"""A home with agents that play scripts, a source that counts, and workflows over them; opened as often as processes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from wf_core.ids import DeploymentId, RunId
from wf_mcp.app import App
from wf_mcp.execution.pins import pin
from wf_mcp.operations import artifacts, deployments, runs
from wf_mcp.operations.models import RunSummary

OPS = '''
from pathlib import Path
from wf_core import capability

@capability()
def count(who: str) -> dict:
    """Count a call by one line."""
    with (Path(__file__).parent / "counted.txt").open("a") as file:
        file.write(f"{who}\\n")
    return {"who": who}

@capability(read_only=True)
def shout(text: str) -> str:
    return text.upper()
'''

DEFER = {"tag": "defer", "reason": "outside"}


class Home:
    """A folder that an application is opened over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agents: dict[str, dict[str, str]] = {}
        (folder / "ops.py").write_text(OPS)
        self._configure()

    def agent(
        self, slug: str, *answers: dict[str, Any], tools: tuple[str, ...] = (), rules: dict[str, Any] | None = None
    ) -> None:
        """Add an agent whose model plays these answers."""
        (self.folder / f"{slug}.answers.json").write_text(json.dumps({"answers": list(answers)}))
        policy = {"rules": [{"tool": tool, "disposition": how} for tool, how in (rules or {}).items()]}
        agent = {
            "slug": slug,
            "description": f"The agent {slug}.",
            "model": f"scripted:{slug}.answers.json",
            "tools": list(tools),
            "toolCallPolicyConfig": policy,
        }
        (self.folder / f"{slug}.agent.json").write_text(json.dumps(agent))
        self.agents[slug] = {"file": f"{slug}.agent.json"}
        self._configure()

    @asynccontextmanager
    async def open(self, **more: Any) -> AsyncGenerator[App]:
        """Open the home as a process of its own would."""
        config = self.folder / "wf.json"
        async with App.open(home=self.folder / "home", config=config, cwd=self.folder, environ={}, **more) as app:
            yield app

    @property
    def counted(self) -> list[str]:
        file = self.folder / "counted.txt"
        return file.read_text().splitlines() if file.exists() else []

    def _configure(self) -> None:
        config = {"pythonSources": {"ops": {"module": "ops", "path": "."}}, "agents": self.agents}
        (self.folder / "wf.json").write_text(json.dumps(config))


def asks(agent: str, prompt: Any = "go", to: str = "__end__") -> dict[str, Any]:
    """Write a step that calls an agent, and keeps its answer."""
    value = {"path": prompt} if isinstance(prompt, str) and "." in prompt else {"value": prompt}
    return {
        "type": "node",
        "use": f"agents.{agent}",
        "input": {"prompt": value},
        "output": {"state.answer": "answer", "state.session": "session_id"},
        "routes": {"ok": to},
    }


def plan(steps: dict[str, Any], output: str = "answer") -> dict[str, Any]:
    state: dict[str, Any] = {"type": "object", "properties": {"answer": {}, "session": {}, "who": {}}}
    kept = {output: {"path": f"state.{output}"}}
    return {"name": "flow", "start": next(iter(steps)), "state_schema": state, "steps": steps, "output": kept}


async def deploy(app: App, name: str, document: dict[str, Any], **more: Any) -> None:
    await artifacts.save_artifact(app, artifact_id=name, plan=document)
    made = await deployments.create_deployment(app, deployment_id=name, artifact_id=name, **more)
    assert made.runnable, made.diagnostics


async def run(app: App, name: str, given: dict[str, Any] | None = None) -> RunSummary:
    return await runs.run_deployment(app, deployment_id=name, workflow_input=given, wait_seconds=20)


async def start_named(app: App, name: str, key: str) -> None:
    """Start a run by any key, as it may have been stored before keys that name calls were refused; let it stop."""
    deployment = await app.stores.catalog.load_deployment(DeploymentId(name))
    artifact = await app.stores.catalog.load_artifact(deployment.artifact_id, deployment.artifact_version)
    pinned = await pin(app.registry, app.stores.catalog, artifact=artifact, deployment=deployment)
    assert pinned.environment is not None
    await app.runs.wait(
        await app.runs.start(pinned.environment, {}, principal="local", idempotency_key=key), seconds=20
    )


async def inspected(app: App, run_id: str | None, wait_seconds: float = 10) -> RunSummary:
    assert run_id is not None
    return await runs.inspect_run(app, run_id=RunId(run_id), wait_seconds=wait_seconds)


def calling(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": "", "toolCalls": [{"name": name, "arguments": arguments} for name, arguments in calls]}


def saying(text: str) -> dict[str, Any]:
    return {"text": text}
