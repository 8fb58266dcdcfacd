"""`wf artifacts`: saved workflows, each an immutable version of a plan."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType

from wf_mcp.cli.documents import read_plan
from wf_mcp.cli.operate import guard, operate
from wf_mcp.cli.output import AsJson, Cursor, Limit, as_text, diagnostic, facts, show, table, when
from wf_mcp.cli.screen import block
from wf_mcp.operations import artifacts as operations
from wf_mcp.operations.models import ArtifactList, ArtifactView, DeletedArtifact, SavedArtifact

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Saved workflows, each an immutable version of a plan."
)

ArtifactId = Annotated[str, typer.Argument(metavar="ARTIFACT", help="The artifact's id.")]
Version = Annotated[int | None, typer.Option("--version", min=1, help="Which version (default: the newest).")]


@app.command()
def save(
    context: typer.Context,
    artifact_id: ArtifactId,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan: a file, JSON, or - for stdin.")],
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    as_json: AsJson = False,
) -> None:
    """Save a plan as the next version; the same plan again is the same version."""
    document = guard(lambda: read_plan(plan), as_json=as_json)
    saved = operate(
        context,
        lambda wf: operations.save_artifact(wf, artifact_id=artifact_id, plan=document, description=description),
        as_json=as_json,
    )
    show(saved, _saved, as_json=as_json)


@app.command("list")
def list_artifacts(
    context: typer.Context,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest version of each artifact."""
    page = operate(context, lambda wf: operations.list_artifacts(wf, cursor=cursor, limit=limit), as_json=as_json)
    show(page, _rows, as_json=as_json)


@app.command("show")
def show_artifact(
    context: typer.Context, artifact_id: ArtifactId, version: Version = None, as_json: AsJson = False
) -> None:
    """Show one version with its plan."""
    found = operate(
        context,
        lambda wf: operations.inspect_artifact(wf, artifact_id=artifact_id, version=version),
        as_json=as_json,
    )
    show(found, _whole, as_json=as_json)


@app.command()
def delete(
    context: typer.Context,
    artifact_id: ArtifactId,
    version: Annotated[int | None, typer.Option("--version", min=1, help="Which version (default: all).")] = None,
    as_json: AsJson = False,
) -> None:
    """Delete one version, or all. Refused while a deployment refers to it."""
    gone = operate(
        context, lambda wf: operations.delete_artifact(wf, artifact_id=artifact_id, version=version), as_json=as_json
    )
    show(gone, _gone, as_json=as_json)


def _saved(saved: SavedArtifact) -> RenderableType:
    return Group(
        facts(
            (
                ("artifact", f"{saved.artifact_id} {saved.version}"),
                ("calls", ", ".join(saved.required_capabilities) or "nothing"),
                ("next", f"wf deployments create NAME {saved.artifact_id} --version {saved.version}"),
            )
        ),
        *(diagnostic(issue) for issue in saved.issues),
    )


def _rows(page: ArtifactList) -> RenderableType:
    return table(
        ("artifact", "newest", "versions", "calls", "saved", "what it is for"),
        (
            (
                row.artifact_id,
                str(row.version),
                ", ".join(str(version) for version in row.versions),
                ", ".join(row.required_capabilities),
                when(row.created_at),
                block(row.description or ""),
            )
            for row in page.artifacts
        ),
        empty="No artifacts.",
    )


def _whole(found: ArtifactView) -> RenderableType:
    return facts(
        (
            ("artifact", f"{found.artifact_id} {found.version}"),
            ("digest", found.digest),
            ("saved", when(found.created_at)),
            ("for", block(found.description) if found.description else None),
            ("calls", ", ".join(found.required_capabilities) or None),
            ("plan", as_text(found.plan, limit=100_000)),
        )
    )


def _gone(gone: DeletedArtifact) -> RenderableType:
    return f"deleted {gone.artifact_id}" + (f" {gone.version}" if gone.version else "")
