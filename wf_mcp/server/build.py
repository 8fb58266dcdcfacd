"""Puts the server together. The home, the sources and the runs are opened by `wf_mcp.app` when it starts to serve."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import anyio
from mcp.server.mcpserver import MCPServer

from wf_mcp.app import App, configuration
from wf_mcp.execution.recovery import keep_taking_over
from wf_mcp.execution.sessions.keeping import keep_going
from wf_mcp.server.prompts import add_prompts
from wf_mcp.server.resources import add_resources
from wf_mcp.server.tools import Toolset, default_toolsets, tools_of
from wf_mcp.server.updates import Updates
from wf_mcp.server.workflow_server import WorkflowServer

INSTRUCTIONS = """Runs durable workflows: typed graphs of tool calls that stop where a person must answer, survive
restarts, and go on with exactly the definitions they started with.

To carry something out: list_deployments, then run_deployment. Its answer names a run_id; the run goes on on the server
whatever happens to this conversation. Follow it with inspect_run(wait_seconds=25). When status is interrupted, put the
question to the user and pass the answer on with resume_run. next_actions in each answer says what to call next.

To write a workflow: read wf://guide/authoring, look at list_capabilities, then validate_workflow, save_artifact,
create_deployment."""
"""What a client shows its model of this server; clients cut it at 2 KB."""

SESSIONS = """

To hand a task to another agent: start_session, then resume_session. It answers, or waits for calls that are made
elsewhere: list_pending names them, complete_call delivers a result, and resume_session goes on."""
"""What is said, too, where agents are configured."""


def build_server(
    *, home: Path | None = None, config: Path | None = None, toolsets: Sequence[Toolset] | None = None
) -> MCPServer[App]:
    """Build the server over a home (WF_HOME or the user's data folder when None) and a configuration file.

    Raises:
        InvalidConfig: the configuration, which says which tools there are by default, cannot be used.
    """
    if toolsets is None:
        toolsets = default_toolsets(agents=bool(configuration(home, config).agents))
    updates = Updates()

    @asynccontextmanager
    async def lifespan(_: MCPServer[App]) -> AsyncGenerator[App]:
        async with App.open(home=home, config=config) as app, anyio.create_task_group() as tasks:
            tasks.start_soon(updates.tell, app.runs.changes)
            tasks.start_soon(keep_taking_over, app.runs, app.stores.runs)
            tasks.start_soon(keep_going, app.sessions)
            yield app
            tasks.cancel_scope.cancel()

    server = WorkflowServer(
        "wf-mcp",
        title="Durable workflows",
        version=version("wf-mcp"),
        instructions=INSTRUCTIONS + (SESSIONS if "sessions" in toolsets else ""),
        tools=tools_of(toolsets),
        lifespan=lifespan,
        updates=updates,
        log_level="WARNING",
    )
    add_resources(server)
    add_prompts(server)
    return server
