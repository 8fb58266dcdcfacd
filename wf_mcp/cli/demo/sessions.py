"""The story of a session: its calls are answered from outside, and every numbered step is a process of its own."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule

from wf_core.errors import WfError
from wf_mcp.app import App
from wf_mcp.cli import conversations, samples
from wf_mcp.cli.output import facts, status
from wf_mcp.cli.place import Place
from wf_mcp.cli.screen import block, line
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import sessions
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import PendingCall
from wf_mcp.operations.session_models import SessionDetail

WIDEST = 100
PROMPT = "What is known about sourdough, here and elsewhere?"
OUTSIDE = "outside.json"
"""The configuration of a worker outside, which knows this server as any MCP client does."""

CARRIED_OUT = "carried_out.log"
"""What the tools of the sample write down: which was carried out in which process."""

_PROGRAM = ("-c", "from wf_mcp.cli.main import main; main()")


class StepFailed(WfError):
    """A step of the demo did not end as it should."""

    code = "internal_error"


class SessionStory:
    """One play of the demo in a folder that holds the sample."""

    def __init__(self, out: Console, place: Place, work: Path) -> None:
        self._out = out
        self._out.width = min(out.width, WIDEST)
        self._place = place
        self._work = work
        self._steps = 0
        self._told = 0
        """How many turns of the session at hand have been told, and change no more."""

    def tell(self) -> ExitStatus:
        """Play the demo to its end, twice: with two calls put off, and with one of them in a process of its own."""
        self._prepare()
        self._chapter("A model asks for three calls: one is made here, two are left to others")
        first = self._start("researcher")
        self._go_on("ask the model", "step", first)
        waiting = self._go_on("make its calls, or put them off", "step", first)
        library, laboratory = waiting.pending_calls
        self._say("No process is left. Everything is on disk:")
        self._say("\n".join(self._stored()))
        self._chapter("Two workers deliver, in the wrong order, each through a door of its own")
        self._deliver_over_mcp(laboratory)
        self._deliver_by_command(library)
        self._chapter("The session goes on: the model gets three results, in call order")
        answered = self._go_on("go on", "resume", first)
        self._chapter("The same, with one call isolated in a worker process")
        second = self._start("isolated")
        waiting = self._go_on("go on to where it waits", "resume", second)
        self._go_on("carry out what is to be isolated", "run-isolated", second)
        self._deliver_by_command(waiting.pending_calls[-1])
        again = self._go_on("go on", "resume", second)
        self._chapter("Yours now")
        self._finish(first, second)
        return ExitStatus.DONE if {answered.status, again.status} == {"answered"} else ExitStatus.FAILED

    def _prepare(self) -> None:
        samples.write_session_sample(self._work)
        server = ["-m", "wf_mcp", *self._where()]
        config = {"mcpServers": {"wf": {"command": sys.executable, "args": server, "cwd": str(self._work)}}}
        (self._work / OUTSIDE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def _start(self, agent: str) -> str:
        started = self._run(
            f"start a session of the agent {agent}",
            self._where(),
            ("session", "start", "--agent", agent, "--prompt", PROMPT),
        )
        self._told = 1
        return str(started["session_id"])

    def _go_on(self, title: str, verb: str, session_id: str) -> SessionDetail:
        """Advance a session in a process of its own, and tell what that did."""
        self._run(title, self._where(), ("session", verb, session_id))
        found = anyio.run(self._look, session_id)
        turns = found.conversation[self._told :]
        self._told += len(turns) - bool(found.conversation[-1].by == "user" and found.conversation[-1].calls)
        self._show(conversations.happened(found, turns))
        self._show(status(found.status))
        return found

    async def _look(self, session_id: str) -> SessionDetail:
        async with App.open(home=self._place.home, config=self._place.config, redactor=self._place.redactor) as wf:
            return await sessions.inspect_session(wf, session_id=session_id, turns=20, caller=LOCAL_PERSON)

    def _deliver_over_mcp(self, call: PendingCall) -> None:
        """Deliver as an MCP client: the worker's own wf calls the tool `complete_call` of our server."""
        given = {"token": call.token, "result": {"type": "text", "content": f"external result for {call.name}"}}
        said = self._run(
            f"a worker delivers {call.name} over MCP, by the tool complete_call",
            ("--home", str(self._work / "outside"), "--config", str(self._work / OUTSIDE)),
            ("capabilities", "call", "wf.complete_call", json.dumps(given)),
        )
        self._delivered(said["output"])

    def _deliver_by_command(self, call: PendingCall) -> None:
        """Deliver a file on the command line."""
        result = f"{call.name}.txt"
        (self._work / result).write_text(f"external result for {call.name}", encoding="utf-8")
        said = self._run(
            f"a worker delivers {call.name} on the command line",
            self._where(),
            ("session", "complete", call.token, result),
        )
        self._delivered(said)

    def _delivered(self, told: dict[str, Any]) -> None:
        left = [call["name"] for call in told["pending_calls"]]
        self._show(line(f"taken; {', '.join(left)} still waits" if left else "taken; nothing waits any more"))

    def _finish(self, first: str, second: str) -> None:
        log = (self._work / CARRIED_OUT).read_text(encoding="utf-8").splitlines()
        made = block("\n".join(log))
        self._out.print(facts((("carried out here", made), ("everything", str(self._work)))))
        self._say("\nlook at the sessions again\n")
        for session_id in (first, second):
            self._verbatim(f"wf {shlex.join((*self._where(), 'session', 'show', session_id))}")

    def _stored(self) -> list[str]:
        """Name the files of sessions and of calls that wait."""
        home = self._work / "home"
        files = (path for room in ("sessions", "calls") for path in sorted((home / room).rglob("*.json*")))
        return [f"  {path.relative_to(self._work)}  {path.stat().st_size:,} bytes" for path in files]

    def _where(self) -> Sequence[str]:
        return ("--home", str(self._place.home), "--config", str(self._place.config))

    def _run(self, title: str, where: Sequence[str], arguments: Sequence[str]) -> Any:
        """Carry out one numbered step in a process of its own, and give the JSON that it prints.

        Raises:
            StepFailed: it ended otherwise than in success or in waiting.
        """
        self._steps += 1
        self._out.print()
        command = [sys.executable, *_PROGRAM, *where, *arguments, "--json"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self._work
        ) as process:
            pid = (f"  process {process.pid}", "dim")
            self._out.print(line((f"{self._steps}. ", "bold cyan"), (title, "bold"), pid))
            self._verbatim(f"   wf {shlex.join(arguments)}")
            said, complaint = process.communicate()
        if process.returncode not in {ExitStatus.DONE, ExitStatus.WAITING}:
            raise StepFailed(
                f"Step {self._steps} ended with status {process.returncode}: {complaint.strip()}",
                hint="wf doctor may say why.",
            )
        return json.loads(said)

    def _chapter(self, title: str) -> None:
        self._out.print()
        self._out.print(Rule(line(title, style="bold"), align="left", style="cyan"))

    def _say(self, text: str) -> None:
        self._out.print(Padding(block(text, style="dim"), (0, 0, 0, 3), expand=False))

    def _show(self, picture: RenderableType) -> None:
        self._out.print(Padding(picture, (0, 0, 0, 3), expand=False))

    def _verbatim(self, text: str) -> None:
        """Print what is to be copied: never folded."""
        self._out.print(block(text, style="cyan"), soft_wrap=True)
