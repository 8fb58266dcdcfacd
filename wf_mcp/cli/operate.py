"""One operation from the command line: open the home, act, close; errors become messages and exit statuses."""

import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import anyio
import typer
from rich.status import Status

from wf_core.errors import WfError
from wf_mcp.app import App
from wf_mcp.cli.output import console, show_error
from wf_mcp.cli.place import Place
from wf_mcp.cli.screen import line
from wf_mcp.config import Redactor
from wf_mcp.errors import ExitStatus, describe, meaning

logger = logging.getLogger(__name__)
T = TypeVar("T")

INTERRUPTED_BY_THE_PERSON = 130
"""What a shell says of a program that Ctrl-C ended."""


def operate(context: typer.Context, action: Callable[[App], Awaitable[T]], *, as_json: bool = False) -> T:
    """Do `action` with the application open. What goes wrong is shown, and ends the program with its exit status."""
    place: Place = context.find_root().obj

    async def act() -> T:
        async with App.open(home=place.home, config=place.config, redactor=place.redactor) as app:
            try:
                answer = await action(app)
                if app.callees is not None:
                    await app.callees.finish()  # what goes on because of it ends with this process
                return answer
            except WfError as error:
                _redact(error, app.redactor)
                raise

    return guard(lambda: anyio.run(act), as_json=as_json)


def guard(action: Callable[[], T], *, as_json: bool = False) -> T:
    """Do `action`; an error is shown, and ends the program with its exit status."""
    try:
        return action()
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED_BY_THE_PERSON) from None
    except Exception as raised:  # noqa: BLE001 - it is shown, and told by the exit status
        raise typer.Exit(failed(raised, as_json=as_json)) from None


def failed(raised: Exception, *, as_json: bool = False) -> ExitStatus:
    """Show what went wrong, and give the exit status that says it."""
    error = _leaf(raised)
    if not isinstance(error, WfError):
        logger.error("Something went wrong inside wf", exc_info=error)
    show_error(error, as_json=as_json)
    return meaning(describe(error)["code"]).exit_status


class Ticker:
    """Shows on stderr how far a run is; silent where there is no terminal."""

    def __init__(self, status: Status | None) -> None:
        self._status = status

    async def __call__(self, steps_executed: int, message: str) -> None:
        if self._status is not None:
            self._status.update(line(f"step {steps_executed}  ", (message, "dim")))


@asynccontextmanager
async def ticker(text: str) -> AsyncGenerator[Ticker]:
    """Show progress on stderr while something long is done."""
    err = console(stderr=True)
    if not (err.is_terminal and sys.stdout.isatty()):
        yield Ticker(None)
        return
    with err.status(line(text)) as status:
        yield Ticker(status)


def _redact(error: WfError, redactor: Redactor) -> None:
    """Take what must not be shown out of an error while it is known what that is."""
    error.message = redactor.text(error.message)
    error.hint = None if error.hint is None else redactor.text(error.hint)
    error.details = cast("dict[str, Any]", redactor.json(error.details))


def _leaf(error: Exception) -> Exception:
    """Unwrap what task groups wrap around a single error."""
    if not isinstance(error, ExceptionGroup):
        return error
    group = cast("ExceptionGroup[Exception]", error)
    return _leaf(group.exceptions[0]) if len(group.exceptions) == 1 else group
