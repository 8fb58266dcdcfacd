"""What becomes of a call that the model asks for: what the policies decide about it, or why it cannot be made."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self, cast

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
from wf_core.sessions.events import AskedCall
from wf_core.sessions.models import AgentSnapshot, CallerPolicy, Session, ToolDefinition

NO_POLICY = AppliedPolicy(AT_ONCE, "none")
"""Of a call that cannot be made."""


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies that hold for the calls of a session: its agent's own, and those of its callers beside it."""

    own: CallPolicy | PolicyConfig
    around: Sequence[tuple[CallerPolicy, PolicyConfig]]

    @classmethod
    def of(cls, session: Session, own: CallPolicy | PolicyConfig | None) -> Self:
        """Read those of a session; `own` takes the place of its agent's.

        Raises:
            InvalidPolicy: one of them cannot be read.
        """
        deciding = read_policy(session.agent.policy) if own is None else own
        return cls(deciding, [(caller, read_policy(caller.policy)) for caller in session.callers])

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


def asked_call(
    agent: AgentSnapshot, call: ToolCall, provider_id: str, policies: Policies, context: PolicyContext
) -> AskedCall:
    """Judge a call that the model asks for.

    Raises:
        InvalidPolicy: a policy decided what cannot be written down.
    """
    name = storable(call.name)
    tool = agent.tool(name)
    arguments, fault = _arguments(call.arguments)
    said = ToolCall(name, arguments, provider_id, "" if tool is None else tool.capability)
    if tool is None:
        return AskedCall(said, NO_POLICY, _unknown(agent, name))
    if fault is None:
        fault = _misfit(tool.name, cast("JsonSchema", tool.input_schema), arguments)
    if fault is not None:
        return AskedCall(said, NO_POLICY, fault)
    applied = policies.apply(context, said, tool)
    if isinstance(applied, str):
        return AskedCall(said, NO_POLICY, applied)
    return AskedCall(said, _in_mode(agent, applied), None)


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
