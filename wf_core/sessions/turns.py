"""What the user says and what the model answers."""

from collections.abc import Sequence

from wf_core.calls.policy import CallPolicy, ToolCall
from wf_core.calls.policy_data import PolicyConfig, read_policy
from wf_core.jsonvalue import storable
from wf_core.sessions.applying import require_askable
from wf_core.sessions.asking import Policies, asked_call
from wf_core.sessions.context import context_of
from wf_core.sessions.events import Answered, AskedCall, Said, Started
from wf_core.sessions.journal import record
from wf_core.sessions.models import AgentSnapshot, Attachment, CallerPolicy, Parent, Session, Usage, UserTurn

NO_USAGE = Usage()


def start(
    *,
    id: str,
    seed: str,
    agent: AgentSnapshot,
    query: str | None,
    attachments: Sequence[Attachment] = (),
    parent: Parent | None = None,
    callers: Sequence[CallerPolicy] = (),
) -> Session:
    """Open a session with the user's first turn. The model is not asked yet.

    Raises:
        InvalidPolicy: the agent's policy, or one that holds beside it, cannot be read.
    """
    for policy in (agent.policy, *(caller.policy for caller in callers)):
        read_policy(policy)
    session = Session(id, seed, agent, parent=parent, callers=tuple(callers))
    record(session, Started(None if query is None else storable(query), _storable(attachments)))
    return session


def say(session: Session, query: str, attachments: Sequence[Attachment] = (), *, joins: bool = False) -> None:
    """Take what the user says.

    After an answer it is a turn of its own. While calls are open, or the model is being asked, it waits and becomes
    part of the next user turn. `joins` says that nobody asks the model just now: it then becomes part of a user turn
    that has no answer yet. A session that was stopped by `max_turns` goes on, as if `joins` were said.
    """
    unanswered = isinstance(session.turns[-1], UserTurn)
    joined = unanswered and (joins or session.asked >= session.agent.max_turns)
    record(session, Said(storable(query), _storable(attachments), joined))


def answer(
    session: Session,
    text: str,
    tool_calls: Sequence[ToolCall] = (),
    usage: Usage = NO_USAGE,
    *,
    policy: CallPolicy | PolicyConfig | None = None,
) -> None:
    """Take the model's answer, with the calls it asks for and what a policy decides about each.

    `policy` None is the agent's own, as data. A call that cannot be made has ended at once, with an error that says
    why: there is no such tool, the arguments do not fit, or the policies demand what does not go together. Provider ids
    that are empty or not new are replaced. What waits to be told (words of the user, notices) becomes the next user
    turn at once when no calls are asked for.

    Raises:
        IllegalTransition: the model was not asked.
        MaxTurnsReached: it may not be asked.
        InvalidPolicy: the policy decided what cannot be written down.
    """
    require_askable(session)
    policies = Policies.of(session, policy)
    turn = f"t{len(session.turns) + 1}"
    context = context_of(session, turn)
    taken: set[str] = set()
    asked: list[AskedCall] = []
    for index, call in enumerate(tool_calls):
        provider_id = _new_id(session, taken, call.provider_call_id, f"{turn}.{index}")
        taken.add(provider_id)
        asked.append(asked_call(session.agent, call, provider_id, policies, context))
    counted = Usage(max(0, usage.input_tokens), max(0, usage.output_tokens))
    record(session, Answered(storable(text), tuple(asked), counted))


def _storable(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            storable(attachment.mime_type),
            storable(attachment.base64_data),
            None if attachment.filename is None else storable(attachment.filename),
        )
        for attachment in attachments
    )


def _new_id(session: Session, taken: set[str], given: str, call_id: str) -> str:
    """Give the provider's id, or one of ours where that is empty or was there before."""
    wanted = storable(given)
    name, number = wanted or _own_id(call_id), 1
    while name in session.provider_ids or name in taken:
        name = _own_id(call_id) if number == 1 else f"{_own_id(call_id)}_{number}"
        number += 1
    return name


def _own_id(call_id: str) -> str:
    return f"call_{call_id.replace('.', '_')}"
