"""One call of a run as the policy of its deployment wants it: in isolation, within limits, repeated, from the cache.

A call that the policy puts off is never seen here: the kernel leaves it to the outside before it begins.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast

import anyio

from wf_artifacts.runs.environment import PinnedCapability, PinnedEnvironment
from wf_artifacts.runs.models import RunRecord
from wf_core import jsonvalue
from wf_core.calls.contract import CAPABILITY_ERROR, ERROR_OUTCOME, Contract
from wf_core.calls.policy import Disposition, PolicyContext, RunIsolated, ToolCall, bare
from wf_core.calls.results import JsonContent, TextContent, ToolResult, as_text, result_to_json, text_result
from wf_core.ids import call_token
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import CallFailure, Invocation
from wf_mcp.execution.calls.caching import cache_key_of
from wf_mcp.execution.calls.decorated import decorated
from wf_mcp.execution.calls.isolated import NO_RUNNER, isolated_executor
from wf_mcp.execution.calls.protocol import CallComplete, CallRequest, Target
from wf_mcp.execution.invoke import Deferred, invoke
from wf_mcp.execution.means import Means
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.sources.protocol import CallDeferred, CallResult


def cannot_carry_out(means: Means, environment: PinnedEnvironment, call: Invocation) -> bool:
    """Tell whether a call is to be carried out in isolation, and there is nobody to do that."""
    if call.policy is None:
        return False
    disposition = bare(call.policy.disposition)
    source = environment.capabilities[call.capability].source
    return isinstance(disposition, RunIsolated) and means.runner(disposition.spec, source) is None


async def carry_out(
    means: Means, record: RunRecord, pinned: PinnedCapability, call: Invocation, disposition: Disposition
) -> CallResult | CallFailure | Deferred:
    """Carry a call out, whatever its policy says of when: what is put off is put off before this.

    A result that is kept is as good as one that comes now. Time limits of the step hold around all attempts.
    """
    request = _request(record, pinned, call, disposition)
    # Runs of one principal share results, and none with sessions: these keep them in another form.
    key = cache_key_of(request, f"runs of {record.principal}")
    if key is not None and means.cache is not None:
        found = await means.cache.get(key)
        if (kept := _read(found)) is not None:
            return kept
    answer = await _within(call, _Carrying(means, pinned, call).carry_out(request))
    if isinstance(answer, CallResult) and answer.outcome != ERROR_OUTCOME and key is not None and means.cache:
        await means.cache.put(key, {"outcome": answer.outcome, "output": answer.output}, now=means.clock.now())
    return answer


async def _within(
    call: Invocation, carrying: Awaitable[CallResult | CallFailure | Deferred]
) -> CallResult | CallFailure | Deferred:
    """Wait as long as the step allows. Whether the call executed is unknown afterwards."""
    with anyio.move_on_after(call.timeout_seconds):
        return await carrying
    return CallFailure("timeout", f"{call.capability} did not answer within {call.timeout_seconds:g} seconds.")


class _Carrying:
    """One call under way. What its last attempt answered is kept whole: executors speak of what a model reads."""

    def __init__(self, means: Means, pinned: PinnedCapability, call: Invocation) -> None:
        self._means = means
        self._pinned = pinned
        self._call = call
        self._last: tuple[CallComplete, CallResult | CallFailure] | None = None

    async def carry_out(self, request: CallRequest) -> CallResult | CallFailure | Deferred:
        innermost = bare(request.disposition)
        attempt = self._here
        if isinstance(innermost, RunIsolated):
            runner = self._means.runner(innermost.spec, self._pinned.source)
            if runner is None:
                return Deferred("isolated", NO_RUNNER)
            attempt = _Isolated(runner, self._pinned.contract, self._means.max_bytes, self._remember)
        try:
            ended = await decorated(attempt, request)
        except CallDeferred as deferred:
            return Deferred("callee", deferred.reason)
        if self._last is not None and self._last[0] is ended:
            return self._last[1]
        return CallFailure(ended.code or CAPABILITY_ERROR, ended.message, executed=ended.executed)

    async def _here(self, request: CallRequest) -> CallComplete:
        answer = await invoke(
            self._means.registry.sources(),
            self._pinned,
            replace(self._call, attempt=request.attempt, timeout_seconds=None),
            run_id=request.owner_id,
            max_bytes=self._means.max_bytes,
        )
        if isinstance(answer, Deferred):
            raise CallDeferred(answer.reason)
        return self._remember(answer)

    def _remember(self, answer: CallResult | CallFailure) -> CallComplete:
        if isinstance(answer, CallFailure):
            told = text_result(answer.message, error=True)
            ended = CallComplete(told, ERROR_OUTCOME, code=answer.code, executed=answer.executed)
        else:
            failed = answer.outcome == ERROR_OUTCOME
            ended = CallComplete(ToolResult(JsonContent(None), error=failed), answer.outcome, answer.output)
        self._last = (ended, answer)
        return ended


_Remember = Callable[[CallResult | CallFailure], CallComplete]


class _Isolated:
    """Makes attempts by a runner, and reads what comes back as the capability's answer."""

    def __init__(self, runner: DeploymentRunner, contract: Contract, max_bytes: int, remember: _Remember) -> None:
        self._executor = isolated_executor(runner)
        self._contract = contract
        self._max_bytes = max_bytes
        self._remember = remember

    async def __call__(self, request: CallRequest) -> CallComplete:
        ended = await self._executor.exec_sync(request)
        if ended.code is not None:
            return self._remember(CallFailure(ended.code, ended.message, executed=ended.executed))
        if ended.result.error:
            return self._remember(CallFailure(CAPABILITY_ERROR, as_text(ended.result)))
        answer = _answer(ended.result, self._contract)
        size = jsonvalue.size(answer.output)
        if size > self._max_bytes:
            most = f"at most {self._max_bytes} are taken"
            return self._remember(CallFailure("too_large", f"{request.target.capability} gave {size} bytes; {most}."))
        return self._remember(answer)


def _answer(result: ToolResult, contract: Contract) -> CallResult:
    """Read what a worker printed as what the capability answers: our own worker prints the output as it is."""
    usual = contract.outcomes[0]
    match result.content:
        case JsonContent({"outcome": str(outcome), "output": output, **rest}) if (
            not rest and outcome in contract.outcomes[1:]
        ):
            return CallResult(outcome, output)
        case JsonContent(content):
            return CallResult(usual, content)
        case TextContent(text):
            return CallResult(usual, {"result": text})
        case _:
            return CallResult(usual, {"result": result_to_json(result)})


def _request(record: RunRecord, pinned: PinnedCapability, call: Invocation, disposition: Disposition) -> CallRequest:
    run_id, hints = record.run_id, pinned.contract.hints
    return CallRequest(
        owner_id=run_id,
        call_id=call.call_id,
        token=call_token(run_id, call.call_id),
        call=ToolCall(pinned.name, cast("JsonValue", call.input), capability=call.capability),
        target=Target(
            pinned.source, pinned.name, pinned.digest, hints.read_only, hints.repeatable, pinned.contract.outcomes
        ),
        disposition=disposition,
        context=PolicyContext(
            run_id=run_id,
            turn_id=call.step_id,
            conversation_id=run_id,
            call_stack=(record.deployment_id,),
        ),
        attempt=call.attempt,
    )


def _read(found: JsonValue) -> CallResult | None:
    match found:
        case {"outcome": str(outcome), "output": output, **rest} if not rest:
            return CallResult(outcome, output)
        case _:
            return None
