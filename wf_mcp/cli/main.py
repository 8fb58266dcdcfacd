"""`wf`: its nouns, and what holds for all of them. Each noun is one module, imported when it is used."""

import logging
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from wf_mcp.cli.visible import visible
from wf_mcp.errors import ExitStatus

NOUNS = {
    "artifacts": "Saved workflows, each an immutable version of a plan.",
    "deployments": "Artifact versions bound to sources, ready to run.",
    "runs": "Start, answer, look at and cancel runs.",
    "session": "Start, advance and look at agent sessions, and answer their calls.",
    "agent": "Run an agent from beginning to end.",
    "pending": "What waits for an answer.",
    "calls": "Calls that wait for the outside, or of which nobody knows whether they were carried out.",
    "sources": "Where capabilities come from.",
    "capabilities": "What a workflow's steps can call.",
    "plan": "Check, draw and explain plan files.",
    "demo": "See a workflow stop for a person, survive kill -9, and go on. Offline.",
    "doctor": "Check that everything here works.",
    "store": "Copy everything from one store to another.",
    "init": "Write a first workflow and its configuration into a folder.",
    "mcp-config": "Print the configuration for an MCP client.",
    "serve": "Serve MCP over HTTP on this machine.",
}
"""What `wf --help` says. The module of a noun is called like it."""


class Noun(TyperCommand):
    """A command that is imported when it is used; its name and its help are known before."""

    @property
    def commands(self) -> Mapping[str, Any]:
        """Give the verbs of the noun, if it has any."""
        return getattr(self._command, "commands", {})

    def make_context(self, *args: Any, **options: Any) -> Any:
        return self._command.make_context(*args, **options)

    @cached_property
    def _command(self) -> Any:
        module = import_module(f"wf_mcp.cli.{str(self.name).replace('-', '_')}")
        command = get_command(module.app)
        command.name = self.name
        return command


class Wf(TyperGroup):
    """The program, with its nouns."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, text in NOUNS.items():
            self.add_command(Noun(name, help=text), name)

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _legible_refusals():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _legible_refusals():
            return super().invoke(ctx)


app = typer.Typer(name="wf", cls=Wf, no_args_is_help=True, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line. A terminal that lacks a character sees a question mark; a full disk is said."""
    stdout, stderr = cast("TextIOWrapper | None", sys.stdout), cast("TextIOWrapper | None", sys.stderr)
    for stream in filter(None, (stdout, stderr)):
        stream.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            if stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer would be tried again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"wf: the output cannot be written: {error.strerror}\n")
        sys.exit(ExitStatus.FAULT)
    except Exception as error:  # noqa: BLE001 - it is shown, and told by the exit status
        from wf_mcp.cli.operate import failed  # noqa: PLC0415 - loads what help can do without

        sys.exit(failed(error))


@contextmanager
def _legible_refusals() -> Generator[None]:
    """Make legible what is wrong with the words of a command: typer repeats them."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # typer has no public name for the kind
            said = str(getattr(error, "message", "")).removeprefix("Value error, ")
            error.message = visible(said)  # type: ignore[attr-defined]
        raise


class Legible(logging.Formatter):
    """What is logged and what a traceback repeats, with nothing in it that a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record), lines=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("wf-mcp"))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(envvar="WF_HOME", help="Where everything is stored (default: the user's data folder)."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration (default: wf.json in this folder, else in the home).")
    ] = None,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Durable workflows: look after what the MCP server runs."""
    from wf_mcp.cli.operate import guard  # noqa: PLC0415 - see below
    from wf_mcp.cli.paths import check  # noqa: PLC0415 - see below
    from wf_mcp.cli.place import Place  # noqa: PLC0415 - loads what help can do without
    from wf_mcp.config.streams import redact_streams  # noqa: PLC0415 - see above

    if logging.lastResort is not None:  # what prints where nobody configures logging
        logging.lastResort.setFormatter(Legible())
    for path in filter(None, (home, config)):
        guard(partial(check, path))
    context.obj = place = Place(home=home, config=config)
    redact_streams(place.redactor)
