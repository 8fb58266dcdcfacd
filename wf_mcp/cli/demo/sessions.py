"""The story of a session: its calls are answered from outside, and every numbered step is a process of its own."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from wf_core.errors import WfError
from wf_mcp.cli import conversations, samples
from wf_mcp.cli.output import as_text
from wf_mcp.cli.place import Place
from wf_mcp.errors import ExitStatus
from wf_mcp.operations.models import PendingCall
from wf_mcp.operations.session_models import SessionSummary

WIDEST = 100
PROMPT = "Fetch what is known about sourdough, here and elsewhere, then sum it up"
OUTSIDE = "outside.json"
"""The configuration of a worker outside, which knows this server as any MCP client does."""

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

    def tell(self) -> ExitStatus:
        """Play the demo to its end, twice: with two calls put off, and with one of them in a process of its own."""
        self._prepare()
        self._chapter("A model asks for three calls: one is made here, two belong to somebody outside")
        waiting = self._up_to_where_it_waits("researcher")
        library, laboratory = waiting.pending_calls
        self._chapter("Outside workers deliver, the second call first, each through a door of its own")
        self._deliver_by_mcp(laboratory)
        self._deliver_by_command(library)
        self._chapter("The session goes on: the model gets three results, in call order")
        answered = self._advance("resume it", "resume", str(waiting.session_id))
        self._chapter("The same, with one call isolated in a process of its own")
        isolated = self._up_to_where_it_waits("isolated")
        self._advance("carry out the isolated call in a worker", "run-isolated", str(isolated.session_id))
        self._deliver_by_command(isolated.pending_calls[-1])
        again = self._advance("resume it", "resume", str(isolated.session_id))
        self._chapter("Yours now")
        self._say("everything is in", str(self._work))
        self._say("look at the first session again with")
        self._verbatim(self._shown("session", "show", str(waiting.session_id)))
        both = {answered.status, again.status}
        return ExitStatus.DONE if both == {"answered"} else ExitStatus.FAILED

    def _prepare(self) -> None:
        samples.write_session_sample(self._work)
        server = ["-m", "wf_mcp", "--home", str(self._place.home), "--config", str(self._place.config)]
        config = {"mcpServers": {"wf": {"command": sys.executable, "args": server, "cwd": str(self._work)}}}
        (self._work / OUTSIDE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def _up_to_where_it_waits(self, agent: str) -> SessionSummary:
        started = self._advance(f"start a session of the agent {agent}", "start", "--agent", agent, "--prompt", PROMPT)
        name = str(started.session_id)
        self._advance("take a step: the model is asked", "step", name)
        waiting = self._advance("take a step: its calls are made, or put off", "step", name)
        if waiting.status != "waiting":
            raise StepFailed(f"The session should wait now, and is {waiting.status}.", hint="wf doctor may say why.")
        shown = {"token", "name", "arguments", "reason"}
        for call in waiting.pending_calls:
            self._show(as_text(call.model_dump(include=shown)))
        return waiting

    def _deliver_by_mcp(self, call: PendingCall) -> None:
        """Deliver as an MCP client: the worker's own wf calls the tool `complete_call` of our server."""
        given = {"token": call.token, "result": {"type": "text", "content": f"external result for {call.name}"}}
        config = str(self._work / OUTSIDE)
        home = str(self._work / "outside")
        self._run(
            f"a worker delivers {call.name} over MCP, with the tool complete_call",
            ("--home", home, "--config", config),
            ("capabilities", "call", "wf.complete_call", json.dumps(given)),
        )

    def _deliver_by_command(self, call: PendingCall) -> None:
        """Deliver a file on the command line."""
        result = self._work / f"{call.name}.json"
        content = {"type": "text", "content": f"external result for {call.name}"}
        result.write_text(json.dumps(content) + "\n", encoding="utf-8")
        self._run(
            f"a worker delivers {call.name} on the command line",
            self._where(),
            ("session", "complete", call.token, str(result)),
        )

    def _advance(self, title: str, verb: str, *arguments: str) -> SessionSummary:
        told = SessionSummary.model_validate(self._run(title, self._where(), ("session", verb, *arguments)))
        self._show(Text(f"   {told.status}, {told.turns} turns"))
        if told.answer is not None:
            self._show(conversations.answer(told.answer))
        return told

    def _where(self) -> Sequence[str]:
        return ("--home", str(self._place.home), "--config", str(self._place.config))

    def _run(self, title: str, where: Sequence[str], arguments: Sequence[str]) -> Any:
        """Carry out one numbered step in a process of its own, and give the JSON that it prints.

        Raises:
            StepFailed: it ended otherwise than in success or in waiting.
        """
        self._steps += 1
        self._out.print(Text.assemble((f"{self._steps}. ", "bold cyan"), title))
        self._verbatim(f"   wf {shlex.join(arguments)}")
        command = [sys.executable, *_PROGRAM, *where, *arguments, "--json"]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=self._work, check=False)
        if ended.returncode not in {ExitStatus.DONE, ExitStatus.WAITING}:
            raise StepFailed(
                f"Step {self._steps} ended with status {ended.returncode}: {ended.stderr.strip()}",
                hint="wf doctor may say why.",
            )
        return json.loads(ended.stdout)

    def _chapter(self, title: str) -> None:
        self._out.print()
        self._out.print(Rule(Text(title, style="bold"), align="left", style="cyan"))
        self._out.print()

    def _say(self, *texts: str) -> None:
        self._out.print(Text(" ".join(texts), style="dim"), soft_wrap=True)

    def _show(self, picture: RenderableType) -> None:
        self._out.print(picture)

    def _shown(self, *arguments: str) -> str:
        return f"wf {shlex.join((*self._where(), *arguments))}"

    def _verbatim(self, text: str) -> None:
        """Print what is to be copied: never folded."""
        self._out.print(Text(text, style="cyan"), soft_wrap=True)
