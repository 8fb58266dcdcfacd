"""`wf demo`: its options."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from wf_mcp.cli import samples
from wf_mcp.cli.demo.sessions import SessionStory
from wf_mcp.cli.demo.story import Story
from wf_mcp.cli.operate import guard
from wf_mcp.cli.output import console
from wf_mcp.cli.paths import check, named
from wf_mcp.cli.place import Place
from wf_mcp.errors import ExitStatus, InvalidArgument

app = typer.Typer(add_completion=False)

SAMPLE_NOTE = "sourdough.md"
"""It has flaws, so there is something to decide."""


@app.command()
def demo(
    folder: Annotated[Path | None, typer.Option(help="Your own folder of Markdown notes (default: a sample).")] = None,
    note: Annotated[str | None, typer.Option(help="Which note (default: a flawed one, or your longest).")] = None,
    into: Annotated[Path | None, typer.Option(help="Where to work (default: a new temporary folder).")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve without asking.")] = False,
    session: Annotated[
        bool, typer.Option("--session", help="Play an agent session instead, whose calls are answered from outside.")
    ] = False,
) -> None:
    """See a workflow stop for a person, survive kill -9, and go on. Offline."""

    def play_session() -> ExitStatus:
        work = _folder(into).resolve()
        place = Place(home=work / "home", config=work / samples.CONFIG)
        return SessionStory(console(), place, work).tell()

    def play() -> ExitStatus:
        if folder is not None:
            check(folder)
        name = note or (SAMPLE_NOTE if folder is None else longest_note(folder))
        if folder is not None and not (folder / name).is_file():
            raise InvalidArgument(f"There is no file {name} in {folder}.", hint="Name one with --note.")
        work = _folder(into)
        samples.write_sample(work, notes=folder)
        place = Place(home=work / "home", config=work / samples.CONFIG)
        return Story(console(), place, work, note=name, asks=not yes).tell()

    raise typer.Exit(guard(play_session if session else play))


def _folder(into: Path | None) -> Path:
    """Give the folder to work in.

    Raises:
        InvalidArgument: it cannot be one, or none can be made.
    """
    if into is None:
        with named("The folder for temporary files", hint="Name another with --into."):
            return Path(tempfile.mkdtemp(prefix="wf-demo-"))
    check(into)
    return into


def longest_note(folder: Path) -> str:
    """Choose a note to work on.

    Raises:
        InvalidArgument: there is none.
    """
    # A name that is no text could not be handed to a workflow.
    files = (path for path in folder.glob("*.md") if path.is_file() and path.name.isprintable())
    notes = sorted(files, key=lambda path: path.stat().st_size)
    if not notes:
        raise InvalidArgument(
            f"There is no Markdown file in {folder}.", hint="Name a folder that has files ending in .md."
        )
    return notes[-1].name
