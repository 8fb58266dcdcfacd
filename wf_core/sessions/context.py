"""Where a call of a session stands: what a policy is told of it, and what is kept while it waits."""

from wf_core.calls.policy import PolicyContext
from wf_core.sessions.models import Session


def context_of(session: Session, turn_id: str) -> PolicyContext:
    """Say where the calls of a turn stand."""
    parent = None if session.parent is None else session.parent.id
    return PolicyContext(
        session_id=session.id,
        turn_id=turn_id,
        conversation_id=parent or session.id,
        call_stack=(session.agent.slug,),
        allowed_tools=tuple(tool.name for tool in session.agent.tools),
        parent=parent,
    )
