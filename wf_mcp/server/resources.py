"""Resources: what is stored, and what an author needs to read, under `wf://`."""

import re
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import BaseModel

from wf_core import jsonvalue
from wf_core.errors import WfError
from wf_core.jsonvalue import quote
from wf_mcp import operations
from wf_mcp.config import Redactor
from wf_mcp.errors import ExitStatus, InvalidArgument, describe, meaning
from wf_mcp.operations.caller import LOCAL_MODEL
from wf_mcp.server.opening import Opening

if TYPE_CHECKING:
    from wf_mcp.app import App

JSON = "application/json"

_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")
Request = Context[Opening, Any]


def run_uri(run_id: str) -> str:
    """Name the resource of a run, as updates name it."""
    return f"wf://runs/{run_id}"


@cache
def authoring_guide() -> str:
    """Say how to write a plan, to a model that has never seen one."""
    return files("wf_mcp.server").joinpath("authoring.md").read_text(encoding="utf-8")


@cache
def plan_schema() -> str:
    """Give the JSON Schema of a plan."""
    from wf_core.plan import WorkflowPlan  # noqa: PLC0415 - its models are slow to build, and few sessions ask

    return jsonvalue.dumps(WorkflowPlan.model_json_schema()).decode("utf-8")


def add_resources(server: MCPServer[Any]) -> None:
    """Add every resource and resource template to `server`."""

    @server.resource(
        "wf://guide/authoring",
        title="How to write a workflow plan",
        description="The plan language with examples. Read it before writing a plan.",
        mime_type="text/markdown",
    )
    def guide() -> str:
        return authoring_guide()

    @server.resource(
        "wf://schema/plan",
        title="JSON Schema of a plan",
        description="Every key of a workflow plan and of its steps.",
        mime_type=JSON,
    )
    def schema() -> str:
        return plan_schema()

    @server.resource(
        "wf://runs/{run_id}",
        title="A run",
        description="Where a run stands; the answer of inspect_run.",
        mime_type=JSON,
    )
    async def run(run_id: str, request: Request) -> str:
        return await _json(
            request, lambda app: operations.runs.inspect_run(app, run_id=run_id, wait_seconds=0, caller=LOCAL_MODEL)
        )

    @server.resource(
        "wf://runs/{run_id}/trace/{start}/{limit}",
        title="A part of a run's trace",
        description="Up to 100 entries from `start`, which counts from 0, or from the end when negative.",
        mime_type=JSON,
    )
    async def trace(run_id: str, start: str, limit: str, request: Request) -> str:
        first, most = _whole("start", start), _whole("limit", limit)
        return await _json(
            request,
            lambda app: operations.traces.read_run_trace(
                app, run_id=run_id, start=first, limit=most, caller=LOCAL_MODEL
            ),
        )

    @server.resource(
        "wf://artifacts/{artifact_id}/{version}",
        title="A version of an artifact",
        description="One saved version with its plan.",
        mime_type=JSON,
    )
    async def artifact(artifact_id: str, version: str, request: Request) -> str:
        wanted = _whole("version", version)
        return await _json(
            request, lambda app: operations.artifacts.inspect_artifact(app, artifact_id=artifact_id, version=wanted)
        )

    @server.resource(
        "wf://deployments/{deployment_id}",
        title="A deployment",
        description="What it runs, on which sources, and whether it can run now.",
        mime_type=JSON,
    )
    async def deployment(deployment_id: str, request: Request) -> str:
        return await _json(
            request, lambda app: operations.deployments.inspect_deployment(app, deployment_id=deployment_id)
        )


async def _json(request: Request, ask: Callable[["App"], Awaitable[BaseModel]]) -> str:
    """Give the answer as text, or the error in the protocol's words.

    Raises:
        MCPError: there is no such thing, or the address is none of a thing; or it cannot be read.
    """
    app = await request.request_context.lifespan_context.app()
    try:
        return jsonvalue.dumps((await ask(app)).model_dump(mode="json")).decode("utf-8")
    except WfError as error:
        raise _refusal(error, app.redactor) from error


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _refusal(InvalidArgument(f"`{name}` must be a whole number, not {quote(text)}."), Redactor())
    return int(text)


def _refusal(error: WfError, redactor: Redactor) -> MCPError:
    shown = describe(error, redactor.json)
    asked_wrongly = meaning(error.code).exit_status == ExitStatus.USAGE
    return MCPError(
        code=INVALID_PARAMS if asked_wrongly else INTERNAL_ERROR,
        message=" ".join(filter(None, (shown["message"], shown["hint"]))),
        data={"error": shown},
    )
