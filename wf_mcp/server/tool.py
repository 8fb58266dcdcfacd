"""A tool of this server: strict arguments in, a structured answer or a structured error out.

The SDK derives the schemas from the function's type hints. What it does about wrong arguments and failures (plain text
for the model) is replaced here, so that a client can act on the code of every error.
"""

from collections.abc import Awaitable, Callable
from inspect import getdoc
from typing import Any, Self, cast, get_type_hints

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import BaseModel

from wf_mcp.server import results, schemas
from wf_mcp.server.arguments import check, strict
from wf_mcp.server.bounds import fewer_rows
from wf_mcp.server.call import ToolCall
from wf_mcp.server.opening import Opening
from wf_mcp.server.progress import Progress

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Looks at what is stored."""

ASKS_SOURCES = READS.model_copy(update={"open_world_hint": True})
"""Looks, and asks the sources, which may be anywhere."""

ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
"""Calls capabilities, which may do anything."""

DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""Removes or ends something stored; doing it again changes nothing more."""


class WorkflowTool(Tool):
    """A tool whose every failure is a structured result, a wrong argument included."""

    @classmethod
    def of(
        cls,
        function: Callable[..., Awaitable[BaseModel]],
        *,
        title: str,
        annotations: ToolAnnotations,
        meta: dict[str, Any] | None = None,
        whole: bool = False,
    ) -> Self:
        """Make a tool of `function(call, ...)`: its docstring describes it, its other parameters are the arguments."""
        made = cls.from_function(
            function,
            title=title,
            description=getdoc(function),
            context_kwarg="call",
            annotations=annotations,
            meta=meta,
            structured_output=False,  # what the SDK would make of it is larger than a host should pay for
        )
        tool, metadata = cast("Self", made), made.fn_metadata
        tool.parameters = schemas.of_arguments(tool.parameters)
        metadata.output_schema = schemas.of_answer(get_type_hints(function)["return"], whole=whole)
        metadata.arg_model = strict(metadata.arg_model)
        return tool

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: ARG002
    ) -> CallToolResult:
        """Call the function. Only a fault of the protocol is raised; anything else becomes a result.

        A page that is too long to be read is asked for again, with fewer rows.
        """
        opening: Opening = context.request_context.lifespan_context
        app = await opening.app()
        call = ToolCall(app=app, progress=Progress(context))
        try:
            values = check(self.fn_metadata.arg_model, arguments)
            answer = await self.fn(call, **values)
            while (rows := fewer_rows(answer)) is not None:
                answer = await self.fn(call, **{**values, "limit": rows})
            return results.success(answer)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary: `describe` decides what is shown of it
            return results.failure(error, tool=self.name, redactor=app.redactor)
