"""`wf deployments`: artifact versions bound to sources, ready to run."""

from typing import Annotated, Any, cast

import typer
from rich.console import Group, RenderableType

from wf_mcp.app import App
from wf_mcp.cli.documents import read_json
from wf_mcp.cli.operate import guard, operate, ticker
from wf_mcp.cli.output import AsJson, Cursor, Limit, diagnostic, facts, show, table, when
from wf_mcp.cli.screen import line
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations import deployments as operations
from wf_mcp.operations.models import DeletedDeployment, DeploymentList, DeploymentView, Durability

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Artifact versions bound to sources, ready to run.")

DeploymentId = Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="The deployment's id.")]


@app.command()
def create(
    context: typer.Context,
    deployment_id: DeploymentId,
    artifact_id: Annotated[str, typer.Argument(metavar="ARTIFACT", help="What it runs.")],
    version: Annotated[
        int | None, typer.Option("--version", min=1, help="Which version (default: the newest).")
    ] = None,
    bind: Annotated[
        list[str] | None, typer.Option("--bind", metavar="NAME=SOURCE", help="Give a source that the plan names.")
    ] = None,
    durability: Annotated[
        Durability,
        typer.Option(help="What a crash leaves of a run: every step, or where it stood at its last stop (faster)."),
    ] = "steps",
    call_policy: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help="Which calls are left to the outside, isolated, cached or limited: JSON, @FILE, or -."
        ),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a deployment of this id.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an artifact version runnable under a name."""
    bindings = guard(lambda: _bindings(bind or []), as_json=as_json)
    policy = guard(lambda: _policy(call_policy), as_json=as_json)

    async def action(wf: App) -> DeploymentView:
        async with ticker("asking the sources"):
            return await operations.create_deployment(
                wf,
                deployment_id=deployment_id,
                artifact_id=artifact_id,
                version=version,
                bindings=bindings,
                durability=durability,
                call_policy=policy,
                replace=replace,
            )

    show(operate(context, action, as_json=as_json), _whole, as_json=as_json)


@app.command("list")
def list_deployments(
    context: typer.Context,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List what can be run."""
    page = operate(context, lambda wf: operations.list_deployments(wf, cursor=cursor, limit=limit), as_json=as_json)
    show(page, _rows, as_json=as_json)


@app.command("show")
def show_deployment(context: typer.Context, deployment_id: DeploymentId, as_json: AsJson = False) -> None:
    """Show a deployment, and whether it can run now."""

    async def action(wf: App) -> DeploymentView:
        async with ticker("asking the sources"):
            return await operations.inspect_deployment(wf, deployment_id=deployment_id)

    show(operate(context, action, as_json=as_json), _whole, as_json=as_json)


@app.command()
def delete(context: typer.Context, deployment_id: DeploymentId, as_json: AsJson = False) -> None:
    """Delete a deployment. Its runs stay, and paused ones can still go on."""
    gone = operate(context, lambda wf: operations.delete_deployment(wf, deployment_id=deployment_id), as_json=as_json)
    show(gone, _gone, as_json=as_json)


def _bindings(pairs: list[str]) -> dict[str, str]:
    bindings: dict[str, str] = {}
    for pair in pairs:
        name, sign, source = pair.partition("=")
        if not (name and sign and source):
            raise InvalidArgument(f"--bind {pair!r} names no source.", hint="Write NAME=SOURCE, as in notes=my-notes.")
        bindings[name] = source
    return bindings


def _policy(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    document = read_json(text, name="--call-policy")
    if not isinstance(document, dict):
        raise InvalidArgument("--call-policy is no object.", hint='Write {"rules": [{"tool": …, "disposition": …}]}.')
    return cast("dict[str, Any]", document)


def _rows(page: DeploymentList) -> RenderableType:
    return table(
        ("deployment", "runs", "bindings", "changed"),
        (
            (
                row.deployment_id,
                f"{row.artifact_id} {row.artifact_version}",
                ", ".join(f"{name}={source}" for name, source in row.bindings.items()),
                when(row.updated_at),
            )
            for row in page.deployments
        ),
        empty="No deployments.",
    )


def _whole(found: DeploymentView) -> RenderableType:
    return Group(
        facts(
            (
                ("deployment", found.deployment_id),
                ("runs", f"{found.artifact_id} {found.artifact_version}"),
                ("bindings", ", ".join(f"{name}={source}" for name, source in found.bindings.items()) or None),
                ("calls", "by its call policy" if found.call_policy is not None else None),
                ("stored", "after each step" if found.durability == "steps" else "at each stop"),
                ("runnable", line("yes", style="green") if found.runnable else line("no", style="red")),
                ("run it", f"wf runs start {found.deployment_id} --input JSON" if found.runnable else None),
            )
        ),
        *(diagnostic(one) for one in found.diagnostics),
    )


def _gone(gone: DeletedDeployment) -> RenderableType:
    return f"deleted {gone.deployment_id}"
