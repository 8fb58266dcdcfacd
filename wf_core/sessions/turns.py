"""What the user says and what the model answers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from wf_core.calls.demands import together
from wf_core.calls.policy import (
    AppliedPolicy,
    CallPolicy,
    Decorate,
    Disposition,
    PolicyContext,
    RunAsync,
    RunSync,
    ToolCall,
    bare,
    decorators,
)
from wf_core.calls.policy_data import AT_ONCE, PolicyConfig, apply_policy, read_policy
from wf_core.errors import InvalidSchema, NotJson
from wf_core.ids import close_matches
from wf_core.jsonvalue import JsonSchema, JsonValue, check, dumps, kind_of, loads, quote, storable
from wf_core.schemas import Check, compile_schema
from wf_core.sessions.applying import require_askable
from wf_core.sessions.context import context_of
from wf_core.sessions.events import Answered, AskedCall, Said, Started
from wf_core.sessions.journal import record
from wf_core.sessions.models import (
    AgentSnapshot,
    Attachment,
    CallerPolicy,
    Parent,
    Session,
    ToolDefinition,
    Usage,
    UserTurn,
)

NO_USAGE = Usage()

NO_POLICY = AppliedPolicy(AT_ONCE, "none")
"""Of a call that cannot be made."""


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

    `policy` None is the agent's own, as data. A call of a tool that there is not, or with arguments that do not fit,
    has ended at once with an error that says so; so has one of which the policies of
    the session's callers demand something else. Provider ids that are empty or not new are replaced. What waits to
    be told (words of the user, notices) becomes the next user turn at once when no calls are asked for.

    Raises:
        IllegalTransition: the model was not asked.
        MaxTurnsReached: it may not be asked.
        InvalidPolicy: the policy decided what cannot be written down.
    """
    require_askable(session)
    deciding = read_policy(session.agent.policy) if policy is None else policy
    deciders = _Deciders(deciding, [(caller, read_policy(caller.policy)) for caller in session.callers])
    turn = f"t{len(session.turns) + 1}"
    context = context_of(session, turn)
    taken: set[str] = set()
    asked: list[AskedCall] = []
    for index, call in enumerate(tool_calls):
        provider_id = _new_id(session, taken, call.provider_call_id, f"{turn}.{index}")
        taken.add(provider_id)
        asked.append(_asked(session, call, provider_id, deciders, context))
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


@dataclass(frozen=True, slots=True)
class _Deciders:
    own: CallPolicy | PolicyConfig
    around: Sequence[tuple[CallerPolicy, PolicyConfig]]

    def apply(self, context: PolicyContext, call: ToolCall, tool: ToolDefinition) -> AppliedPolicy | str:
        """Apply all policies; give a text that says why the call cannot be made where they contradict each other."""
        own = apply_policy(self.own, context, call)
        around: list[AppliedPolicy] = []
        for caller, policy in self.around:
            known = caller.names.get(tool.capability, "")
            applied = policy.apply(context, call, names=(tool.own_name, known))
            around.append(AppliedPolicy(applied.disposition, f"{applied.rule} of {caller.agent}"))
        decided = together(own, around)
        if decided is not None:
            return decided
        agents = ", ".join(caller.agent for caller, _ in self.around)
        return (
            f"{call.name} cannot be called here: how it is to be carried out by the policy of this agent and by those "
            f"of its callers ({agents}) does not go together. Nothing was called."
        )


def _asked(
    session: Session, call: ToolCall, provider_id: str, policies: _Deciders, context: PolicyContext
) -> AskedCall:
    name = storable(call.name)
    tool = session.agent.tool(name)
    arguments, fault = _arguments(call.arguments)
    said = ToolCall(name, arguments, provider_id, "" if tool is None else tool.capability)
    if tool is None:
        return AskedCall(said, NO_POLICY, _unknown(session.agent, name))
    if fault is None:
        fault = _misfit(tool.name, cast("JsonSchema", tool.input_schema), arguments)
    if fault is not None:
        return AskedCall(said, NO_POLICY, fault)
    applied = policies.apply(context, said, tool)
    if isinstance(applied, str):
        return AskedCall(said, NO_POLICY, applied)
    return AskedCall(said, _in_mode(session.agent, applied), None)


def _in_mode(agent: AgentSnapshot, applied: AppliedPolicy) -> AppliedPolicy:
    """Run in the foreground what would run in the background, where an agent is synchronous."""
    if agent.execution_mode == "asynchronous" or not isinstance(bare(applied.disposition), RunAsync):
        return applied
    decorations = decorators(applied.disposition)
    foreground: Disposition = Decorate(decorations, RunSync()) if decorations else RunSync()
    return AppliedPolicy(foreground, applied.rule)


def _unknown(agent: AgentSnapshot, name: str) -> str:
    known = [tool.name for tool in agent.tools]
    close = close_matches(name, known)
    offered = f"Did you mean {', '.join(close)}?" if close else f"There are: {', '.join(known) or 'none'}."
    return f"There is no tool {quote(name)}. {offered}"


def _arguments(arguments: object) -> tuple[JsonValue, str | None]:
    """Give arguments as they can be stored, and what is wrong with them."""
    try:
        check(arguments, "arguments")
    except NotJson as bad:
        return _written(arguments), f"The arguments are no JSON: {bad.message} Call the tool again with a JSON object."
    value = cast("JsonValue", arguments)
    if isinstance(value, dict):
        return value, None
    return value, f"The arguments are {kind_of(value)}, not a JSON object. Call the tool again with one."


def _written(arguments: object) -> str:
    """Write down what is no JSON."""
    if isinstance(arguments, str):
        return storable(arguments)
    try:
        return storable(json.dumps(arguments))
    except (TypeError, ValueError, RecursionError):
        return f"({type(arguments).__name__})"


def _misfit(name: str, schema: JsonSchema, arguments: JsonValue) -> str | None:
    compiled = _compiled(dumps(schema))
    if compiled is None or compiled.accepts(arguments):
        return None
    problems = "; ".join(str(problem) for problem in compiled.problems(arguments, "arguments"))
    return f"The arguments do not fit {name}: {problems} Correct them and call the tool again."


@lru_cache(maxsize=256)
def _compiled(schema: bytes) -> Check | None:
    """Compile a schema once. One that cannot be used refuses nothing here: the capability's own source will."""
    try:
        return compile_schema(cast("JsonSchema", loads(schema)))
    except InvalidSchema:
        return None
