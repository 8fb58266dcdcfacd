"""One call of a session: what is asked of whom, and what is kept of it while it waits."""

from datetime import timedelta

from wf_artifacts.calls.models import Continuation, ContinuationKind
from wf_core.calls.policy import Disposition, RunAsync, RunIsolated, RunSync, ToolCall, bare
from wf_core.calls.policy_data import context_to_json, disposition_to_json
from wf_core.calls.tracked import TrackedCall
from wf_core.jsonvalue import storable
from wf_core.sessions import Session, ToolDefinition, context_of, token_of
from wf_mcp.execution.calls.caching import cache_key_of
from wf_mcp.execution.calls.durable import durable_executor
from wf_mcp.execution.calls.protocol import CallExecutor, CallRequest, CallYield, Target
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.sources.protocol import DEFERRING


def tool_of(session: Session, call: TrackedCall) -> ToolDefinition:
    """Give the tool that an open call means; calls of others have ended at once."""
    tool = session.agent.tool(call.name)
    if tool is None:
        raise AssertionError(f"the open call {call.id} is of no tool of its agent")
    return tool


def request_of(session: Session, call: TrackedCall) -> CallRequest:
    """Say what is to be carried out."""
    tool = tool_of(session, call)
    return CallRequest(
        owner_id=session.id,
        call_id=call.id,
        token=token_of(session, call.id),
        call=ToolCall(call.name, call.arguments, call.provider_call_id, tool.capability),
        target=Target.of(tool),
        disposition=call.policy.disposition,
        context=context_of(session, call.id.rpartition(".")[0]),
        put_off=call.state == "deferred",
    )


def runner_of(means: SessionMeans, session: Session, call: TrackedCall) -> DeploymentRunner | None:
    """Give who carries a call out in isolation; None where nobody does, or it is not to be isolated."""
    disposition = bare(call.policy.disposition)
    if not isinstance(disposition, RunIsolated):
        return None
    return means.runner(session.agent, disposition.spec, Target.of(tool_of(session, call)))


def executor_of(held: HeldSession, call: TrackedCall) -> CallExecutor:
    """Give what carries a call out, or says how it is put off."""
    means = held.means
    return durable_executor(
        means.sources(),
        max_bytes=means.max_bytes,
        clock=means.clock,
        cache=means.cache,
        scope=held.record.principal,
        runner=runner_of(means, held.session, call),
    )


def key_of(held: HeldSession, call: TrackedCall) -> str | None:
    """Give the key under which a call's result is kept, if it is."""
    return cache_key_of(request_of(held.session, call), held.record.principal)


def is_put_off(disposition: Disposition) -> bool:
    """Tell whether a policy leaves a call to the outside, until somebody says otherwise."""
    return not isinstance(bare(disposition), RunSync | RunAsync)


def is_isolated(call: TrackedCall) -> bool:
    """Tell whether a call is to be made outside of this process."""
    return isinstance(bare(call.policy.disposition), RunIsolated)


def may_defer(means: SessionMeans, session: Session, call: TrackedCall) -> bool:
    """Tell whether the callee of a call may put it off itself."""
    source = means.sources().get(tool_of(session, call).source)
    return source is not None and source.kind in DEFERRING


def continuation_of(
    held: HeldSession, call: TrackedCall, kind: ContinuationKind, put_off: CallYield | None = None
) -> Continuation:
    """Give what is kept of a call that waits."""
    request, now = request_of(held.session, call), held.means.clock.now()
    seconds = None if put_off is None else put_off.expires_seconds
    return Continuation(
        token=request.token,
        session_id=held.session.id,
        principal=held.record.principal,
        call_id=call.id,
        provider_call_id=call.provider_call_id,
        name=call.name,
        capability=request.target.capability,
        arguments=call.arguments,
        kind=kind,
        reason=call.reason if put_off is None else storable(put_off.reason),
        disposition=disposition_to_json(call.policy.disposition),
        rule=call.policy.rule,
        cache_key=cache_key_of(request, held.record.principal),
        context=context_to_json(request.context),
        created_at=now,
        expires_at=None if seconds is None else now + timedelta(seconds=seconds),
    )
