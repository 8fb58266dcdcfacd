"""A workplace with an agent: its model plays a script, and its tools note each call in a file.

What was done twice, or not at all, is seen from outside. The model of the script refuses a history that a real one
would refuse, and its last answer shows the results it was given, in the order in which it got them.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.stories.workplace import Server, Workplace, until

_SOURCE = """
import os
import time
from pathlib import Path

from wf_core import capability

HERE = Path(__file__).parent


def note(what: str) -> str:
    with (HERE / "noted").open("a") as noted:
        noted.write(f"{what}\\n")
    return f"{what} done"
"""

_TOOL = '''

@capability({hints})
def {name}(what: str = "") -> str:
    """Note the call."""
    return note(f"{name} {{what}}".strip())
'''

_OTHERS = '''

@capability()
def breaks(what: str = "") -> str:
    """Note the call, and fail."""
    note("breaks")
    raise ValueError("it broke")


@capability(idempotent=True)
def holds_again(what: str = "") -> str:
    """As `holds`, but it may be repeated."""
    return holds(what)


@capability()
def holds(what: str = "") -> str:
    """Note the call, then wait until there is a file `open`."""
    done = note(f"holds {what}".strip())
    while not (HERE / "open").exists():
        time.sleep(0.02)
    return done
'''

TOOLS = ("write", "mail", "far", "away", "ask", "apart")
"""Tools that note their call and are done. What a call may not be repeated."""

DEFER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}
APPROVAL: dict[str, Any] = {"tag": "defer", "reason": "it writes", "approval": True}
ISOLATED: dict[str, Any] = {"tag": "runIsolated", "spec": {"sandbox": "process"}}
AT_ONCE: dict[str, Any] = {"tag": "runSync"}
BACKGROUND: dict[str, Any] = {"tag": "runAsync"}
RULES = {"far": DEFER, "away": DEFER, "ask": APPROVAL, "apart": ISOLATED}

Answer = dict[str, Any]
"""Of the model, as a script has it."""

_numbers = count(1)


def calling(*calls: str | tuple[str, str]) -> Answer:
    """Make an answer that asks for calls: a tool, or a tool and the text that it is given."""
    named = [(call, "") if isinstance(call, str) else call for call in calls]
    return {"toolCalls": [{"name": name, "arguments": {"what": what} if what else {}} for name, what in named]}


SUMMARY: Answer = {"text": "{{results}}"}
"""The answer that shows what the last calls gave, a line `- tool: result` each."""


@dataclass
class Desk:
    """The agent `helper` of a folder, and what its tools did."""

    folder: Path
    answers: list[Answer]
    rules: dict[str, dict[str, Any]] = field(default_factory=lambda: dict(RULES))
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    """More of the agent file."""
    url: str | None = None
    """Of a server that stands over this folder already, and over the desks of other stories."""

    def __post_init__(self) -> None:
        self._number = next(_numbers)
        self.folder.mkdir(exist_ok=True)
        self.place = Workplace(self.folder)
        if self.url is None:
            source = _SOURCE + "".join(_TOOL.format(name=name, hints="") for name in TOOLS)
            self.place.write("tools.py", source + _TOOL.format(name="look", hints="read_only=True") + _OTHERS)
            self.configure()
        for left in ("noted", "open"):
            (self.folder / left).unlink(missing_ok=True)
        self.write_agent()

    def configure(self, **sections: Any) -> None:
        """Write wf.json."""
        sources = {"tools": {"module": "tools", "path": "."}}
        agents = {"helper": {"file": "helper.agent.json"}}
        self.place.configure(**{"pythonSources": sources, "agents": agents, **sections})

    def write_agent(self) -> None:
        """Write the agent file, and the script of its model under a name that is the desk's own."""
        script = f"answers{self._number}.json"
        self.place.write(script, json.dumps({"answers": self.answers}))
        rules = [{"tool": name, "disposition": disposition} for name, disposition in self.rules.items()]
        agent = {
            "slug": "helper",
            "systemPrompt": "Help.",
            "model": f"scripted:{script}",
            "tools": ["tools.*"],
            "toolCallPolicyConfig": {"rules": rules},
        }
        self.place.write("helper.agent.json", json.dumps({**agent, **self.fields}))

    @asynccontextmanager
    async def server(self) -> AsyncGenerator[Server]:
        """Connect to the server that stands, or start one on stdio that ends with the block."""
        async with self.place.server() if self.url is None else self.place.connect(self.url) as server:
            yield server

    @property
    def noted(self) -> list[str]:
        """What the tools did, in its order."""
        notes = self.folder / "noted"
        return notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []

    async def until_noted(self, number: int = 1) -> None:
        await until(lambda: len(self.noted) >= number)

    def open(self) -> None:
        """Let `holds` come to its end."""
        self.place.write("open", "")

    def wf(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """Run a command of `wf` that ends with this status; give what it prints, or the error."""
        ended = self.place.wf(*arguments, "--json")
        assert ended.returncode == status, ended
        return json.loads(ended.stdout or ended.stderr)


async def start(server: Server, prompt: str = "Go.") -> str:
    """Start a session of the agent; give its id."""
    return (await server.call("start_session", agent="helper", prompt=prompt))["session_id"]


async def resume(server: Server, session_id: str, **said: Any) -> dict[str, Any]:
    """Let a session go on to where it rests."""
    told = await server.call("resume_session", session_id=session_id, **said)
    while told["status"] == "running":
        told = await server.call("inspect_session", session_id=session_id, wait_seconds=20)
    return told


async def begin(server: Server, prompt: str = "Go.") -> dict[str, Any]:
    """Start a session and let it go on to where it rests."""
    return await resume(server, await start(server, prompt))


def tokens(told: dict[str, Any]) -> dict[str, str]:
    """Give the tokens of the calls that wait, by the names of their tools."""
    return {call["name"]: call["token"] for call in told["pending_calls"]}


def events(place: Workplace, session_id: str) -> list[dict[str, Any]]:
    """Read what a session was made of."""
    lines = (place.home / "sessions" / session_id / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["event"] for line in lines]
