"""What the user says and what the model answers."""

from collections.abc import Sequence

from wf_core.calls.policy import CallPolicy, ToolCall
from wf_core.calls.policy_data import PolicyConfig
from wf_core.sessions.models import AgentSnapshot, Attachment, Parent, Session, Usage

NO_USAGE = Usage()


def start(
    *,
    id: str,
    seed: str,
    agent: AgentSnapshot,
    query: str | None,
    attachments: Sequence[Attachment] = (),
    parent: Parent | None = None,
) -> Session:
    """Open a session with the user's first turn. The model is not asked yet.

    Raises:
        InvalidPolicy: the agent's policy cannot be read.
    """
    raise NotImplementedError


def say(session: Session, query: str, attachments: Sequence[Attachment] = (), *, joins: bool = False) -> None:
    """Take what the user says.

    After an answer it is a turn of its own. While calls are open, or the model is being asked, it waits and becomes
    part of the next user turn. `joins` says that nobody asks the model just now: it then becomes part of a user turn
    that has no answer yet. A session that was stopped by `max_turns` goes on, as if `joins` were said.
    """
    raise NotImplementedError


def answer(
    session: Session,
    text: str,
    tool_calls: Sequence[ToolCall] = (),
    usage: Usage = NO_USAGE,
    *,
    policy: CallPolicy | PolicyConfig | None = None,
) -> None:
    """Take the model's answer, with the calls it asks for and what a policy decides about each.

    `policy` None is the agent's own, as data. A call of a tool that there is not, or with arguments that do not fit,
    has ended at once with an error that says so. Provider ids that are empty or not new are replaced. What waits to
    be told (words of the user, notices) becomes the next user turn at once when no calls are asked for.

    Raises:
        IllegalTransition: the model was not asked.
        MaxTurnsReached: it may not be asked.
    """
    raise NotImplementedError
