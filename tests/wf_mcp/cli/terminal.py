"""The command line as a person or a script uses it, in the same process."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wf_mcp.cli.main import app

OPS = """
from wf_core import Outcome, capability

@capability(read_only=True, outcomes=("even", "odd"))
def parity(n: int) -> dict:
    return Outcome("even" if n % 2 == 0 else "odd", {"n": n})

@capability(read_only=True)
def explode() -> str:
    raise RuntimeError("it exploded")
"""

PLAN: dict[str, Any] = {
    "name": "parity",
    "description": "Tells even from odd, and asks about odd numbers.",
    "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "state_schema": {"type": "object", "properties": {"why": {"type": "string"}}},
    "output_schema": {"type": "object", "properties": {"why": {"type": "string"}}},
    "outcomes": ["ok", "refused"],
    "start": "look",
    "steps": {
        "look": {
            "type": "node",
            "use": "ops.parity",
            "input": {"n": {"path": "input.n"}},
            "routes": {"even": "__end__", "odd": "ask"},
        },
        "ask": {
            "type": "interrupt",
            "kind": "approval",
            "answered_by": "person",
            "request": {"question": {"template": "Is {{input.n}} all right?"}},
            "resume_schema": {
                "type": "object",
                "properties": {"why": {"type": "string", "description": "the reason"}},
                "additionalProperties": False,
            },
            "resume": {"state.why": {"source": "why", "optional": True}},
            "outcomes": ["yes", "no"],
            "routes": {"yes": "__end__", "no": "stop"},
        },
        "stop": {"type": "end", "outcome": "refused"},
    },
}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Read what stands on stdout."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Terminal:
    """A folder with a wf.json, and the command line over a home in it."""

    folder: Path

    def wf(self, *arguments: str, given: str | None = None) -> Ended:
        """Type a command; `given` is its standard input."""
        place = ["--home", str(self.folder / "home"), "--config", str(self.folder / "wf.json")]
        result = CliRunner().invoke(app, [*place, *arguments], input=given, catch_exceptions=False)
        return Ended(result.exit_code, result.stdout, result.stderr)

    def deploy(self, plan: dict[str, Any] = PLAN) -> str:
        """Save a plan and deploy it under its own name."""
        name = plan["name"]
        assert self.wf("artifacts", "save", name, json.dumps(plan)).status == 0
        assert self.wf("deployments", "create", name, name).status == 0
        return name

    def start(self, n: int) -> Ended:
        """Start a run of the plan of this file."""
        return self.wf("runs", "start", "parity", "--input", json.dumps({"n": n}), "--json")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Give a terminal in a folder with one Python source."""
    (tmp_path / "ops.py").write_text(OPS, encoding="utf-8")
    (tmp_path / "wf.json").write_text('{"pythonSources": {"ops": {"module": "ops"}}}', encoding="utf-8")
    return Terminal(tmp_path)
