"""A folder in which everything that others name, describe, ask, answer and break says something hostile."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wf_mcp.cli.terminal import Ended, Terminal
from tests.wf_mcp.desk import asks, desk

EVIL = (
    "[/] [bold red]loud[/bold red] [link=http://x]y[/link] [/nothing] :smile: \x1b[2J\x1b[31m\x1b]8;;http://x\x07"
    "\x1b]52;c;eA==\x07 \x9b1A \x85 \x08\x08\r\x0b \u202eleft\u202c \u2066\u2069 \u200b\ufeff\u2028 \U000e0041"
)
"""Markup that closes nothing, an emoji by its name, and what terminals obey or hide."""

FORGED = "\nwf calls approve call_forged\n"
"""Lines that would stand as if this program had said them."""

OPS = f"""
from wf_core import Outcome, capability

EVIL = {EVIL!r}

@capability(read_only=True, outcomes=("ok", EVIL))
def say(text: str = "") -> dict:
    return Outcome(EVIL, {{"text": EVIL, EVIL: EVIL}})

@capability(read_only=True)
def explode(text: str = "") -> str:
    raise RuntimeError(EVIL)

@capability()
def pay(text: str = "") -> str:
    return EVIL

@capability(name=EVIL, read_only=True)
def oddly_named(text: str = "") -> str:
    return EVIL

for function in (say, explode, pay, oddly_named):
    function.__doc__ = EVIL
"""

_TEXTS: Mapping[str, Any] = {"type": "object", "properties": {EVIL: {"type": "string", "description": EVIL}}}


def plan(name: str, **steps: Any) -> dict[str, Any]:
    """Make a plan of these steps, begun at the first."""
    return {
        "name": name,
        "description": EVIL + FORGED,
        "state_schema": _TEXTS,
        "output_schema": {"type": "object"},
        "outcomes": ["ok", EVIL],
        "start": next(iter(steps)),
        "steps": {**steps, "refused": {"type": "end", "outcome": EVIL}},
    }


ASKING = plan(
    "asking",
    say={
        "type": "node",
        "use": "ops.say",
        "input": {"text": {"value": EVIL}},
        "routes": {"ok": "ask", EVIL: "ask"},
    },
    ask={
        "type": "interrupt",
        "kind": EVIL,
        "request": {json.dumps(EVIL): {"value": EVIL + FORGED}},
        "resume_schema": _TEXTS,
        "outcomes": [EVIL, "no"],
        "routes": {EVIL: "odd", "no": "refused"},
    },
    odd={
        "type": "condition",
        "check": {"op": "eq", "left": {"value": EVIL}, "right": {"template": EVIL}},
        "routes": {"true": "refused", "false": "__end__"},
    },
)
BREAKING = plan("breaking", explode={"type": "node", "use": "ops.explode", "routes": {"ok": "refused"}})
PAYING = plan(
    "paying", pay={"type": "node", "use": "ops.pay", "input": {"text": {"value": EVIL}}, "routes": {"ok": "refused"}}
)
POLICY = {"rules": [{"tool": "ops.pay", "disposition": {"tag": "defer", "reason": EVIL + FORGED, "approval": True}}]}


@dataclass(frozen=True)
class World:
    """The folder, and the ids of what waits in it."""

    terminal: Terminal
    asking: str
    paying: str
    failed: str
    session: str
    token: str
    call: str


def world(folder: Path) -> World:
    """Set it up: a run that asks, one that waits for an approval, one that failed, and a session that waits."""
    words = EVIL + FORGED
    desk(
        folder,
        [asks(("say", {"text": words}), ("explode", {"text": words}), ("pay", {"text": words}), text=words)] * 9,
        {"pay": {"tag": "defer", "reason": words}},
    )
    (folder / "ops.py").write_text(OPS, encoding="utf-8")
    (folder / "evil.json").write_text(json.dumps(ASKING), encoding="utf-8")
    terminal = Terminal(folder)
    for document in (ASKING, BREAKING, PAYING):
        name, more = document["name"], () if document is not PAYING else ("--call-policy", json.dumps(POLICY))
        saved = terminal.wf("artifacts", "save", name, json.dumps(document), "--description", words)
        assert saved.status == 0, saved.stderr
        assert terminal.wf("deployments", "create", name, name, *more).status == 0
    runs = {name: terminal.wf("runs", "start", name, "--json") for name in ("asking", "paying", "breaking")}
    assert [run.status for run in runs.values()] == [3, 3, 1], runs
    session = terminal.wf("session", "start", "--agent", "helper", "--prompt", words).stdout.strip()
    told = terminal.wf("session", "resume", session, "--json")
    assert told.status == 3, told.stderr
    return World(
        terminal,
        runs["asking"].json["run_id"],
        runs["paying"].json["run_id"],
        runs["breaking"].json["run_id"],
        session,
        told.json["pending_calls"][0]["token"],
        runs["paying"].json["pending_calls"][0]["token"],
    )


def harm(text: str) -> set[str]:
    """Find what a terminal would obey or hide, and the lines that are forged."""
    hidden = {
        repr(char) for char in text if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }
    forged = {line for line in text.splitlines() if line.startswith(FORGED.strip())}
    return hidden | forged | {word for word in ("Traceback", "😄") if word in text}


def harmless(ended: Ended) -> None:
    """Check that a command did no harm to whoever looks at the terminal."""
    assert harm(ended.stdout) == set(), ended.stdout
    assert harm(ended.stderr) == set(), ended.stderr
    assert ended.status != 70, ended.stderr
