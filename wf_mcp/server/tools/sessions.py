"""Tools for agent sessions: start, advance, look."""

from typing import Annotated

from pydantic import Field

from wf_artifacts.sessions.models import SessionStatus
from wf_mcp import operations
from wf_mcp.operations.session_models import SessionDetail, SessionList, SessionSummary
from wf_mcp.server.arguments import Cursor, Limit, WholeNumber
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ACTS, READS, WorkflowTool

SessionId = Annotated[str, Field(description="As start_session gave it.")]
WaitSeconds = Annotated[
    float, Field(ge=0, le=45, description="How long to wait until it rests. It goes on all the same.")
]


async def start_session(
    call: ToolCall,
    agent: Annotated[str, Field(description="An agent of wf.json, by its name there.")],
    prompt: Annotated[str, Field(description="What the agent is to do.")],
    step: Annotated[bool, Field(description="Ask its model once, right away.")] = False,
) -> SessionSummary:
    """Hand a task to another agent. Use it when the user asks for one of the configured agents.

    The session is stored and its model not asked yet: resume_session lets it work. It survives restarts.
    """
    return await operations.sessions.start_session(call.app, agent=agent, prompt=prompt, step=step, caller=call.caller)


async def step_session(call: ToolCall, session_id: SessionId, wait_seconds: WaitSeconds = 25) -> SessionSummary:
    """Take one step: ask the model once, or make the calls of its turn up to where they have to wait.

    Use it instead of resume_session to look at each step before the next is taken.
    """
    return await operations.sessions.step_session(
        call.app, session_id=session_id, wait_seconds=wait_seconds, caller=call.caller
    )


async def pause_session(call: ToolCall, session_id: SessionId, wait_seconds: WaitSeconds = 25) -> SessionSummary:
    """Take one step, then leave the session at rest: it does not go on by itself when results come.

    Use it to stop a session that resume_session lets go on; resume_session lets it go on again.
    """
    return await operations.sessions.pause_session(
        call.app, session_id=session_id, wait_seconds=wait_seconds, caller=call.caller
    )


async def resume_session(
    call: ToolCall,
    session_id: SessionId,
    prompt: Annotated[str | None, Field(description="What the user says next.")] = None,
    wait_seconds: WaitSeconds = 25,
) -> SessionSummary:
    """Let a session go on until it has its answer or has to wait. Use it after start_session, or to say more.

    status is answered (see answer), waiting (for pending_calls: see next_actions; it goes on by itself when their
    results come), running (ask again with inspect_session), failed, or blocked (see diagnostics).
    """
    return await operations.sessions.resume_session(
        call.app, session_id=session_id, prompt=prompt, auto=True, wait_seconds=wait_seconds, caller=call.caller
    )


async def run_isolated(call: ToolCall, session_id: SessionId, wait_seconds: WaitSeconds = 25) -> SessionSummary:
    """Carry out the calls of a session that wait for isolation, each in a sandbox of its own.

    Use it when pending_calls name calls that await "isolated". Then resume_session goes on.
    """
    return await operations.sessions.run_isolated(
        call.app, session_id=session_id, wait_seconds=wait_seconds, caller=call.caller
    )


async def inspect_session(
    call: ToolCall,
    session_id: SessionId,
    turns: Annotated[WholeNumber, Field(ge=0, le=100, description="How many of the last turns to show.")] = 10,
    wait_seconds: WaitSeconds = 0,
) -> SessionDetail:
    """Show where a session stands, with its last turns. Use it to follow a session that is running."""
    return await operations.sessions.inspect_session(
        call.app, session_id=session_id, turns=turns, wait_seconds=wait_seconds, caller=call.caller
    )


async def list_sessions(
    call: ToolCall, status: SessionStatus | None = None, cursor: Cursor = None, limit: Limit = 20
) -> SessionList:
    """List sessions, newest first. Use it to find one, or to see which wait."""
    return await operations.sessions.list_sessions(
        call.app, status=status, cursor=cursor, limit=limit, caller=call.caller
    )


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    return [
        WorkflowTool.of(start_session, title="Start an agent session", annotations=ACTS),
        WorkflowTool.of(step_session, title="Take one step", annotations=ACTS),
        WorkflowTool.of(pause_session, title="Take one step and rest", annotations=ACTS),
        WorkflowTool.of(resume_session, title="Let a session go on", annotations=ACTS),
        WorkflowTool.of(run_isolated, title="Run isolated calls", annotations=ACTS),
        WorkflowTool.of(inspect_session, title="Look at a session", annotations=READS),
        WorkflowTool.of(list_sessions, title="List sessions", annotations=READS),
    ]
