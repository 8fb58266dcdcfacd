"""Puts the server together. When the home, the sources and the runs are opened is the business of `opening`."""

import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from wf_mcp.config import Redactor
from wf_mcp.config.place import configuration
from wf_mcp.server.opening import Application, Opening, opened_when_needed
from wf_mcp.server.prompts import add_prompts
from wf_mcp.server.resources import add_resources
from wf_mcp.server.toolsets import Toolset, default_toolsets
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
    *,
    home: Path | None = None,
    config: Path | None = None,
    toolsets: Sequence[Toolset] | None = None,
    redactor: Redactor | None = None,
) -> WorkflowServer:
    """Build the server over a home (WF_HOME or the user's data folder when None) and a configuration file.

    `redactor` is told every secret when the application is opened.

    Raises:
        InvalidConfig: the configuration cannot be used.
    """
    settings = configuration(home, config)
    offered = default_toolsets(agents=bool(settings.agents)) if toolsets is None else toolsets
    updates = Updates()

    def load() -> Application:
        from wf_mcp.server.application import application  # noqa: PLC0415 - takes a while, as `opening` says

        return partial(application, home, config, updates, redactor)

    def lifespan(_: MCPServer[Opening]) -> AbstractAsyncContextManager[Opening]:
        # Files below the home can always be opened; the address of another store may be wrong.
        return opened_when_needed(load, at_once=settings.store is not None)

    # The SDK's own handler breaks lines where they fill a width, and a secret in two pieces is not found.
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    server = WorkflowServer(
        "wf-mcp",
        title="Durable workflows",
        version=version("wf-mcp"),
        instructions=INSTRUCTIONS + (SESSIONS if "sessions" in offered else ""),
        toolsets=offered,
        lifespan=lifespan,
        updates=updates,
        max_bytes=settings.max_bytes,
        log_level="WARNING",
    )
    add_resources(server)
    add_prompts(server)
    return server
