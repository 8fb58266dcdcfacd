"""Where a call of a session stands."""

from tests.wf_core.conversations import SEED, agent, start
from wf_core.calls.policy import PolicyContext
from wf_core.sessions import Parent, context_of
from wf_core.sessions import start as start_session

TOOLS = ("count", "write", "remote", "pay", "bash", "build", "watch")


def test_a_call_is_one_of_its_agent_and_its_turn() -> None:
    assert context_of(start(), "t2") == PolicyContext(
        session_id="sess_1",
        turn_id="t2",
        conversation_id="sess_1",
        call_stack=("helper",),
        allowed_tools=TOOLS,
    )


def test_a_session_that_was_called_belongs_to_the_conversation_of_its_caller() -> None:
    parent = Parent("run", "run_1", "call_1")
    context = context_of(start_session(id="sess_1", seed=SEED, agent=agent(), query="Go.", parent=parent), "t2")
    assert (context.conversation_id, context.parent, context.session_id) == ("run_1", "run_1", "sess_1")
