"""Makes agents and workflows something that others can call, in one program."""

from anyio.abc import TaskGroup

from wf_artifacts.stores import Stores
from wf_mcp.config import Config, Redactor
from wf_mcp.execution.callees.agents import AgentsSource
from wf_mcp.execution.callees.family import AGENTS, WORKFLOWS
from wf_mcp.execution.callees.waking import Callees
from wf_mcp.execution.callees.workflows import WorkflowsSource
from wf_mcp.execution.means import Means
from wf_mcp.execution.runs import RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.sources.redacted import RedactedSource


def open_callees(
    config: Config,
    redactor: Redactor,
    means: Means,
    stores: Stores,
    runs: RunDriver,
    sessions: SessionDriver,
    tasks: TaskGroup,
) -> Callees:
    """Offer agents and workflows as sources, and let callers hear of their ends.

    A configured source that has one of their names takes the place of it. Workflows are in no list of all sources.
    """
    registry = means.registry
    if config.agents and AGENTS not in registry.sources():
        registry.add(RedactedSource(AgentsSource(config, registry, stores, sessions), redactor))
    if WORKFLOWS not in registry.sources():
        registry.add(RedactedSource(WorkflowsSource(registry, stores, runs), redactor), listed=False)
    callees = Callees(means, stores, runs, sessions, tasks)
    runs.on_stop = callees.stopped
    sessions.tell_by_kind["run"] = callees.answer_run
    return callees
