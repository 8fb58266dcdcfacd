"""Completion of ids in resource templates and prompts."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.types import CompleteRequestParams, CompleteResult, Completion

from wf_mcp import operations
from wf_mcp.operations.caller import LOCAL_MODEL
from wf_mcp.server.opening import Opening

if TYPE_CHECKING:
    from wf_mcp.app import App

MAX_VALUES = 100
"""The protocol's bound on what one completion may name."""


async def complete(context: ServerRequestContext[Opening, Any], params: CompleteRequestParams) -> CompleteResult:
    """Name the newest ids that begin with what was typed. An argument that is no id has no completions."""
    app = await context.lifespan_context.app()
    known = await _known(app, params)
    values = [value for value in known if value.startswith(params.argument.value)]
    return CompleteResult(completion=Completion(values=values[:MAX_VALUES], has_more=len(values) > MAX_VALUES))


async def _known(app: "App", params: CompleteRequestParams) -> list[str]:
    if params.argument.name == "version":
        given = params.context.arguments if params.context else None
        return await _versions(app, (given or {}).get("artifact_id"))
    ids = _IDS.get(params.argument.name)
    return [] if ids is None else await ids(app)


async def _run_ids(app: "App") -> list[str]:
    return [row.run_id for row in (await operations.runs.list_runs(app, limit=MAX_VALUES, caller=LOCAL_MODEL)).runs]


async def _artifact_ids(app: "App") -> list[str]:
    return [row.artifact_id for row in (await operations.artifacts.list_artifacts(app, limit=MAX_VALUES)).artifacts]


async def _deployment_ids(app: "App") -> list[str]:
    return [
        row.deployment_id for row in (await operations.deployments.list_deployments(app, limit=MAX_VALUES)).deployments
    ]


async def _versions(app: "App", artifact_id: str | None) -> list[str]:
    rows = (await operations.artifacts.list_artifacts(app, limit=MAX_VALUES)).artifacts
    return [str(version) for row in rows if row.artifact_id == artifact_id for version in reversed(row.versions)]


_IDS: Mapping[str, Callable[["App"], Awaitable[list[str]]]] = {
    "run_id": _run_ids,
    "artifact_id": _artifact_ids,
    "deployment_id": _deployment_ids,
}
