"""The story of the demo, told on the terminal while it happens."""

import shlex
from pathlib import Path

import anyio
from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.tree import Tree

from wf_core.errors import PersonRequired
from wf_core.plan import WorkflowPlan
from wf_mcp.app import App
from wf_mcp.cli import asking, graphs, pictures, samples
from wf_mcp.cli.demo.process import Worker
from wf_mcp.cli.documents import read_plan
from wf_mcp.cli.mcp_config import Client, client_config, server_command
from wf_mcp.cli.output import facts, status
from wf_mcp.cli.place import Place
from wf_mcp.cli.screen import block, line
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import artifacts, deployments
from wf_mcp.operations.models import InterruptView, RunSummary, TraceEntry

ARTIFACT = "publish_note"
DEPLOYMENT = "publish"

WIDEST = 100
"""Columns at most; longer lines are hard to read."""


class Story:
    """One play of the demo in a folder that holds the sample."""

    def __init__(self, out: Console, place: Place, work: Path, *, note: str, asks: bool) -> None:
        self._out = out
        self._out.width = min(out.width, WIDEST)
        self._place = place
        self._work = work
        self._note = note
        self._asks = asks
        self._trace: list[TraceEntry] = []

    def tell(self) -> ExitStatus:
        """Play the demo to its end, or up to the question when nobody is there to answer."""
        plan = self._prepare()
        self._chapter("A process runs it")
        with Worker(self._place, "start", DEPLOYMENT, {"note": self._note}) as first:
            self._say(f"process {first.pid}; the notes come from an MCP server, a process of its own, over stdio\n")
            run = first.hear(self._step)
            if run.interrupt is not None:
                self._chapter("It waits for a person, and is killed")
                self._out.print(pictures.question(run.interrupt))
                self._say(f"\nkill -9 {first.pid}", style="bold red")
                self._say(f"gone, with status {first.kill()}; what is left is on disk:\n")
                self._out.print(_tree(self._work / "home" / "runs"))
        if run.interrupt is None:
            return self._finish(plan, run)
        self._chapter("A person answers, and a new process goes on")
        reply = self._ask(run.interrupt)
        if reply is None:
            self._say("Nobody is here to answer, so the run waits. To answer it:\n")
            self._command(f"runs resume {run.run_id}")
            return ExitStatus.WAITING
        self._say("")
        given = {"resume_outcome": reply.outcome, "resume_payload": reply.payload, "interrupt_id": reply.interrupt_id}
        with Worker(self._place, "resume", run.run_id or "", given) as second:
            self._say(f"process {second.pid}; it checks that nothing the run uses has changed, and goes on\n")
            return self._finish(plan, second.hear(self._step))

    def _prepare(self) -> WorkflowPlan:
        """Save and deploy the plan, and show it."""
        document = read_plan(str(self._work / samples.PLAN))

        async def deploy() -> None:
            async with App.open(home=self._place.home, config=self._place.config, redactor=self._place.redactor) as wf:
                await artifacts.save_artifact(wf, artifact_id=ARTIFACT, plan=document)
                await deployments.create_deployment(wf, deployment_id=DEPLOYMENT, artifact_id=ARTIFACT)

        anyio.run(deploy)
        plan = WorkflowPlan.model_validate(document)
        self._chapter(f"The workflow: check, approve and publish {self._note}")
        self._show(graphs.drawing(plan))
        return plan

    def _step(self, entry: TraceEntry) -> None:
        """Tell one step as it happens."""
        self._trace.append(entry)
        self._show(pictures.step(entry))

    def _ask(self, question: InterruptView) -> asking.Reply | None:
        """Have the question answered; None when nobody is there."""
        if not self._asks:
            self._say(f"--yes answers: {question.outcomes[0]}")
            return asking.Reply(question.outcomes[0], {}, question.id)
        try:
            return asking.answer(question)
        except PersonRequired:
            return None

    def _finish(self, plan: WorkflowPlan, run: RunSummary) -> ExitStatus:
        """Show what the run did, and what can be done with it now."""
        self._chapter("What happened")
        self._show(graphs.drawing(plan, graphs.marks(run, self._trace, plan)))
        self._say("\nits trace, across both processes\n")
        self._out.print(pictures.trace_table(self._trace))
        self._chapter("Yours now")
        self._out.print(self._result(run))
        self._say("\nlook at the run again\n")
        self._command(f"runs show {run.run_id}")
        self._say("\nlet an MCP client run it: these lines go into the client's configuration\n")
        self._verbatim(client_config(Client.CLAUDE_DESKTOP, self._place, cwd=self._work))
        self._say("\nor, for Claude Code\n")
        self._verbatim(f"claude mcp add wf -- {shlex.join(server_command(self._place, cwd=self._work))}")
        return ExitStatus.FAILED if run.status == "failed" else ExitStatus.DONE

    def _result(self, run: RunSummary) -> RenderableType:
        published = self._work / samples.PUBLISHED / self._note
        return facts(
            (
                ("the run", line(status(run.status), f", outcome {run.outcome}" if run.outcome else "")),
                ("because", run.error.message if run.error else None),
                ("published", str(published) if published.exists() else None),
                ("plan, notes, sources", str(self._work)),
                ("stored runs", str(self._place.home)),
            )
        )

    def _chapter(self, title: str) -> None:
        self._out.print()
        self._out.print(Rule(line(title, style="bold"), align="left", style="cyan"))
        self._out.print()

    def _say(self, text: str, *, style: str = "dim") -> None:
        self._out.print(block(text, style=style))

    def _show(self, picture: RenderableType) -> None:
        self._out.print(picture, no_wrap=True, overflow="ellipsis")

    def _command(self, arguments: str) -> None:
        self._verbatim(f"wf --home {self._place.home} --config {self._place.config} {arguments}")

    def _verbatim(self, text: str) -> None:
        """Print what is to be copied: never folded."""
        self._out.print(block(text, style="cyan"), soft_wrap=True)


def _tree(folder: Path) -> RenderableType:
    """Show a folder with the sizes of what is in it."""
    return _branch(folder, Tree(line(f"{folder}/", style="bold")))


def _branch(folder: Path, tree: Tree) -> Tree:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            _branch(path, tree.add(line(f"{path.name}/", style="bold")))
        else:
            tree.add(line(path.name, (f"  {path.stat().st_size:,} bytes", "dim")))
    return tree
