"""Checking plans, and keeping them as numbered versions."""

from typing import Any, cast

from wf_core.errors import InvalidPlan
from wf_core.ids import ArtifactId
from wf_core.jsonvalue import JsonValue
from wf_core.times import iso
from wf_core.validation import Report
from wf_mcp.app import App
from wf_mcp.operations import plans
from wf_mcp.operations.checks import check_limit, storable
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.models import (
    ArtifactList,
    ArtifactRow,
    ArtifactView,
    DeletedArtifact,
    SavedArtifact,
    ValidationResult,
)
from wf_mcp.operations.summaries import diagnose, unusable


async def validate_workflow(app: App, *, plan: object) -> ValidationResult:
    """Report every issue of a plan at once. Nothing is stored."""
    report = (await plans.read(app, app.redactor.json(cast("JsonValue", plan)))).report
    return ValidationResult(valid=report.valid, issues=diagnose(report.issues))


async def save_artifact(app: App, *, artifact_id: str, plan: object, description: str | None = None) -> SavedArtifact:
    """Save a plan as the next version; a plan that is saved already gives its version. Warnings do not keep it out.

    Raises:
        InvalidArgument, InvalidPlan, TooLarge, StoreFull: nothing was saved.
    """
    given = storable(app, "plan", plan)
    reading = await plans.read(app, given)
    report = reading.report
    if report.plan is None:
        raise _invalid(report)
    saved = await app.stores.catalog.save_artifact(
        ArtifactId(artifact_id),
        cast("dict[str, Any]", given),
        description=app.redactor.text(report.plan.description if description is None else description),
        required_capabilities=reading.required_capabilities,
        now=app.clock.now(),
    )
    return SavedArtifact(
        artifact_id=saved.artifact_id,
        version=saved.version,
        digest=saved.digest,
        required_capabilities=list(saved.required_capabilities),
        issues=diagnose(report.issues),
        # With its number: a plan that was saved before has its old version again, which is not the newest.
        next_actions=[
            f'create_deployment(deployment_id=<name>, artifact_id="{saved.artifact_id}", version={saved.version})'
        ],
    )


async def list_artifacts(app: App, *, cursor: str | None = None, limit: int = 20) -> ArtifactList:
    """List artifacts by id, each with its newest version."""
    check_limit(limit)
    page = await app.stores.catalog.list_artifacts(cursor=release(cursor, "artifacts"), limit=limit)
    rows = [
        ArtifactRow(
            artifact_id=listing.newest.artifact_id,
            version=listing.newest.version,
            versions=list(listing.versions),
            description=listing.newest.description or None,
            required_capabilities=list(listing.newest.required_capabilities),
            created_at=iso(listing.newest.created_at),
        )
        for listing in page.items
    ]
    return ArtifactList(
        artifacts=rows,
        next_cursor=bind(page.next_cursor, "artifacts"),
        diagnostics=[unusable(one.error) for one in page.damaged],
    )


async def inspect_artifact(app: App, *, artifact_id: str, version: int | None = None) -> ArtifactView:
    """Show one version with its plan, the newest when none is named.

    Raises:
        ArtifactNotFound: names close ids, or the versions that there are.
    """
    artifact = await app.stores.catalog.load_artifact(ArtifactId(artifact_id), version)
    return ArtifactView(
        artifact_id=artifact.artifact_id,
        version=artifact.version,
        digest=artifact.digest,
        description=artifact.description or None,
        required_capabilities=list(artifact.required_capabilities),
        created_at=iso(artifact.created_at),
        plan=artifact.plan,
    )


async def delete_artifact(app: App, *, artifact_id: str, version: int | None = None) -> DeletedArtifact:
    """Delete one version, or all of them. Runs keep the plan that they started with.

    Raises:
        ArtifactNotFound, ArtifactInUse: nothing was deleted.
    """
    await app.stores.catalog.delete_artifact(ArtifactId(artifact_id), version)
    return DeletedArtifact(artifact_id=artifact_id, version=version)


def _invalid(report: Report) -> InvalidPlan:
    errors = [issue for issue in report.issues if issue.severity == "error"]
    first = f"{errors[0].path or '/'}: {errors[0].message}"
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return InvalidPlan(
        f"The plan does not validate: {first}{more}",
        [issue.as_json() for issue in report.issues],
        hint="details.issues has every issue with its place; nothing was saved.",
    )
