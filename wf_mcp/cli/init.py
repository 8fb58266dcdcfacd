"""`wf init`: a first workflow and its configuration in a folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from wf_mcp.cli import samples
from wf_mcp.cli.operate import guard
from wf_mcp.cli.output import console, facts
from wf_mcp.cli.screen import line

app = typer.Typer(add_completion=False)

EXPLANATIONS = {
    "wf.json": "which sources there are",
    "ops.py": "capabilities in Python",
    "notes_server.py": "an MCP server as a source",
    "publish_note.json": "the plan",
    "notes": "what it works on",
}


@app.command()
def init(folder: Annotated[Path, typer.Argument(help="Where to write it.")] = Path()) -> None:
    """Write a first workflow and its configuration into a folder. Nothing there is overwritten."""
    written = guard(lambda: samples.write_sample(folder))
    names = dict.fromkeys(path.relative_to(folder).parts[0] for path in written)
    here = folder == Path()
    steps = [] if here else [f"cd {folder}"]
    steps += [
        "wf plan graph publish_note.json",
        "wf artifacts save publish_note publish_note.json",
        "wf deployments create publish publish_note",
        """wf runs start publish --input '{"note": "heat-pump.md"}'""",
    ]
    console().print(
        Group(
            facts((name, EXPLANATIONS.get(name, "")) for name in sorted(names)),
            line(),
            line("now:", style="bold"),
            *(_to_be_typed(step) for step in steps),
        )
    )


def _to_be_typed(command: str) -> Text:
    made = line(f"  {command}", style="cyan")
    made.no_wrap = True
    return made
