"""A folder with an agent, its tools and a scripted model: what an operator of sessions has."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wf_core.jsonvalue import JsonValue
from wf_mcp.app import App
from wf_mcp.operations.session_models import SessionSummary
from wf_mcp.operations.sessions import resume_session, start_session

TOOLS = """
import os
import time
from pathlib import Path

from wf_core import capability

def note(name):
    with Path(__file__).with_name("made.log").open("a", encoding="utf-8") as log:
        log.write(name + "\\n")

@capability()
def local(topic: str = "bread") -> str:
    note("local")
    return f"here: {topic}"

@capability()
def remote_a(topic: str = "bread") -> str:
    note("remote_a")
    return f"a: {topic}"

@capability()
def remote_b(topic: str = "bread") -> str:
    note("remote_b")
    return f"b: {topic}"

@capability()
def slow() -> str:
    note("slow")
    while (Path(__file__).parent / "held").exists():
        time.sleep(0.01)
    return "at last"

@capability()
def pay(amount: int) -> dict:
    note(f"pay {amount}")
    if (Path(__file__).parent / "die").exists():
        os._exit(9)
    return {"receipt": "r-1"}
"""

DEFER: Mapping[str, JsonValue] = {"tag": "defer", "reason": "external worker"}
APPROVE: Mapping[str, JsonValue] = {"tag": "defer", "reason": "costs money", "approval": True}
ISOLATE: Mapping[str, JsonValue] = {"tag": "runIsolated", "spec": {"sandbox": "process"}}
PUT_OFF: Mapping[str, Mapping[str, JsonValue]] = {"remote_*": DEFER}

CONFIG: dict[str, Any] = {
    "pythonSources": {"ops": {"module": "ops"}},
    "agents": {"helper": {"file": "helper.agent.json"}},
}

THREE = ("local", "remote_a", "remote_b")


def asks(*calls: str | tuple[str, dict[str, Any]], text: str = "") -> dict[str, Any]:
    """Make an answer of the model that asks for calls."""
    named: list[tuple[str, dict[str, Any]]] = [(call, {}) if isinstance(call, str) else call for call in calls]
    return {"text": text, "toolCalls": [{"name": name, "arguments": arguments} for name, arguments in named]}


@dataclass(frozen=True)
class Desk:
    """The folder."""

    folder: Path

    @property
    def made(self) -> list[str]:
        """Which tools were carried out here, in order."""
        log = self.folder / "made.log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    @property
    def config(self) -> Path:
        return self.folder / "wf.json"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[App]:
        """Open the application over the home of this folder, as one process does."""
        async with App.open(home=self.home, config=self.config) as app:
            yield app

    def script(self, *answers: dict[str, Any]) -> None:
        """Write what the model answers."""
        (self.folder / "answers.json").write_text(json.dumps({"answers": answers}), encoding="utf-8")

    def agent(
        self, rules: Mapping[str, Mapping[str, JsonValue]] = PUT_OFF, *, slug: str = "helper", **fields: Any
    ) -> None:
        """Write the agent file. `rules` maps tools to dispositions."""
        policy = {"rules": [{"tool": tool, "disposition": disposition} for tool, disposition in rules.items()]}
        document = {
            "slug": slug,
            "model": "scripted:answers.json",
            "tools": ["ops.*"],
            "toolCallPolicyConfig": policy,
            **fields,
        }
        (self.folder / f"{slug}.agent.json").write_text(json.dumps(document), encoding="utf-8")


def desk(
    folder: Path,
    answers: Sequence[dict[str, Any]] = (asks(*THREE, text="Three things."), {"text": "Done:\n{{results}}"}),
    rules: Mapping[str, Mapping[str, JsonValue]] = PUT_OFF,
    *,
    config: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Desk:
    """Set one up. Left alone, its model asks for one call that is made here and for two that are left to others."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Desk(folder)
    (folder / "ops.py").write_text(TOOLS, encoding="utf-8")
    made.config.write_text(json.dumps({**CONFIG, **(config or {})}), encoding="utf-8")
    made.script(*answers)
    made.agent(rules, **fields)
    return made


async def waiting(app: App, prompt: str = "Go.") -> SessionSummary:
    """Start a session, and let it go on to where it waits."""
    started = await start_session(app, agent="helper", prompt=prompt)
    assert started.session_id is not None, started
    return await resume_session(app, session_id=started.session_id)


def tokens(told: SessionSummary) -> dict[str | None, str]:
    """Give the tokens of the calls that wait, by tool."""
    return {call.name: call.token for call in told.pending_calls}
