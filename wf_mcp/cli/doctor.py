"""`wf doctor`: whether everything here works, and what to do about what does not."""

import os
import platform
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import typer
from pydantic import BaseModel
from rich.console import RenderableType
from rich.table import Table

from wf_core.errors import WfError
from wf_mcp.app import App
from wf_mcp.cli.commands import as_commands
from wf_mcp.cli.operate import Ticker, guard, ticker
from wf_mcp.cli.output import AsJson, show
from wf_mcp.cli.place import Place
from wf_mcp.cli.screen import block, line, stacked
from wf_mcp.config.place import default_home
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import artifacts, deployments, refusals, runs, sources, store
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import Diagnostic

app = typer.Typer(add_completion=False)

PAGE = 100

Status = Literal["ok", "warning", "error"]

_GRAVITY: Mapping[str, Status] = {
    "damaged": "error",
    "newer": "error",
    "orphaned": "error",
    "leftover": "warning",
    "unknown": "warning",
}
"""What a kind of finding means for the health of the store."""

_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "bold red")}


class Check(BaseModel):
    """One thing that was looked at."""

    name: str
    status: Status
    message: str
    hint: str | None = None


class Examination(BaseModel):
    """Everything that was looked at."""

    healthy: bool
    """Nothing is an error."""
    checks: list[Check]


@app.command()
def doctor(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend the store. What is taken away is kept in lost+found.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check Python, the home, everything stored, every source, and what can be started.

    Ends with status 4 when something does not work.
    """
    place: Place = context.find_root().obj
    found = guard(lambda: anyio.run(_examine, place, repair), as_json=as_json)
    show(found, _render, as_json=as_json)
    if not found.healthy:
        raise typer.Exit(ExitStatus.BLOCKED)


async def _examine(place: Place, repair: bool) -> Examination:
    checks = [_versions(), _home(place.home or default_home(os.environ))]
    async with ticker("looking at everything") as progress:
        try:
            async with App.open(home=place.home, config=place.config, redactor=place.redactor) as wf:
                stored = await _stored(wf, progress, repair=repair)
                checks += [_config(wf), *await _stores(wf), *stored, *await _sources(wf), *await _refused(wf)]
        except WfError as error:
            checks.append(_trouble("configuration", error))
    return Examination(healthy=all(check.status != "error" for check in checks), checks=checks)


def _versions() -> Check:
    message = f"wf-mcp {version('wf-mcp')}, MCP SDK {version('mcp')}, Python {platform.python_version()}"
    return Check(name="versions", status="ok", message=message)


def _home(home: Path) -> Check:
    """Try to write into the home, or into the folder in which it will be made."""
    there = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        hint = "Name another with --home or WF_HOME."
        return Check(name="home", status="error", message=f"{there} is not writable: {error.strerror}.", hint=hint)
    note = "" if there == home else ", made when it is first used"
    return Check(name="home", status="ok", message=f"{home}{note}")


def _config(wf: App) -> Check:
    message = str(wf.config.file) if wf.config.file else "no wf.json: only wf.std can be called"
    hint = None if wf.config.file else "wf init writes one."
    return Check(name="configuration", status="ok", message=message, hint=hint)


async def _stores(wf: App) -> list[Check]:
    return [
        await _count("artifacts", lambda cursor: artifacts.list_artifacts(wf, cursor=cursor, limit=PAGE), "artifacts"),
        await _count(
            "deployments", lambda cursor: deployments.list_deployments(wf, cursor=cursor, limit=PAGE), "deployments"
        ),
        await _count("runs", lambda cursor: runs.list_runs(wf, cursor=cursor, limit=PAGE, caller=LOCAL_PERSON), "runs"),
    ]


async def _stored(wf: App, progress: Ticker, *, repair: bool) -> list[Check]:
    """Name every file or row that is not as it should be, and what becomes of it."""
    try:
        report = await store.examine_store(wf, repair=repair, progress=progress)
    except WfError as error:
        return [_trouble("store", error)]
    return [
        *(_found(finding, "ok", f"Repaired: {finding.repair}") for finding in report.repaired),
        *(_found(finding, _GRAVITY[finding.kind], _remedy(finding)) for finding in report.left),
    ]


def _found(finding: store.StoreFinding, status: Status, hint: str) -> Check:
    message = f"{finding.document} is {finding.kind}. {finding.problem}"
    return Check(name="store", status=status, message=message, hint=hint)


def _remedy(finding: store.StoreFinding) -> str:
    if finding.repair is None:
        return "Nothing but a backup, a newer version or its owner can help."
    mended = f"wf doctor --repair: {finding.repair}"
    return f"Nothing need be done: it does not count. {mended}" if finding.kind == "leftover" else mended


async def _count(name: str, page: Callable[[str | None], Awaitable[Any]], rows: str) -> Check:
    """Read a whole list, and say how long it is."""
    count, cursor = 0, None
    try:
        while True:
            answer = await page(cursor)
            count, cursor = count + len(getattr(answer, rows)), answer.next_cursor
            if cursor is None:
                return Check(name=name, status="ok", message=f"{count} readable")
    except WfError as error:
        return _trouble(name, error)


async def _sources(wf: App) -> list[Check]:
    """Start every source."""
    checks: list[Check] = []
    for source in (await sources.list_sources(wf)).sources:
        name = f"source {source.name}"
        if not source.enabled:
            checks.append(Check(name=name, status="warning", message="switched off"))
            continue
        found = await sources.check_source(wf, source=source.name)
        if found.available:
            checks.append(Check(name=name, status="ok", message=f"offers {len(found.capabilities)} capabilities"))
        checks += [_noted(name, one) for one in found.diagnostics]
    return checks


async def _refused(wf: App) -> list[Check]:
    """Name what would be refused if it were started."""
    try:
        return [_noted(refused.name, one) async for refused in refusals.refusals(wf) for one in refused.diagnostics]
    except WfError as error:
        return [_trouble("deployments", error)]


def _noted(name: str, found: Diagnostic) -> Check:
    return Check(name=name, status=found.severity, message=f"{found.message} ({found.code})", hint=_typed(found.hint))


def _trouble(name: str, error: WfError) -> Check:
    return Check(name=name, status="error", message=f"{error.message} ({error.code})", hint=_typed(error.hint))


def _typed(hint: str | None) -> str | None:
    return None if hint is None else as_commands(hint)


def _render(found: Examination) -> RenderableType:
    rows = Table.grid(padding=(0, 2))
    rows.add_column()
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for check in found.checks:
        sign, style = _SIGNS[check.status]
        said = [block(check.message), *([block(check.hint, style="dim")] if check.hint else [])]
        rows.add_row(line(sign, style=style), line(check.name), stacked(*said))
    return rows
