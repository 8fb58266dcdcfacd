"""The policies that hold for an agent that is called: those of all agents around it, also through workflows."""

from wf_artifacts.stores import Stores
from wf_core.codec.sessions import load_header
from wf_core.ids import RunId, SessionId, is_run_id, is_session_id
from wf_core.sessions import CallerPolicy, SessionHeader
from wf_mcp.execution.callees.family import caller_of


async def policies_around(stores: Stores, owner_id: str) -> tuple[CallerPolicy, ...]:
    """Give the policies of the agents around a call of a session or a run, the nearest first, as they were pinned.

    Raises:
        RunNotFound, SessionNotFound, StateError, StoreUnavailable: they are not known.
    """
    while is_run_id(owner_id):
        run = await stores.runs.load(RunId(owner_id))
        caller = caller_of(run.idempotency_key)
        if caller is None:
            return ()
        owner_id = caller[0]
    if not is_session_id(owner_id):
        return ()
    header = load_header((await stores.sessions.load(SessionId(owner_id))).header)
    return (*_own(header), *header.callers)


def _own(header: SessionHeader) -> tuple[CallerPolicy, ...]:
    agent = header.agent
    if not agent.policy:
        return ()
    names = {tool.capability: tool.name for tool in agent.tools if tool.name != tool.own_name}
    return (CallerPolicy(agent.slug, agent.policy, names),)
