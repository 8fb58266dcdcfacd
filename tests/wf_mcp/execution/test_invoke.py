"""One call of a capability."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import Gate, ScriptedSource, failing
from wf_artifacts.errors import StoreFull
from wf_artifacts.runs.environment import PinnedCapability
from wf_core.calls.contract import Contract
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import CallFailure, Invocation
from wf_mcp.execution.invoke import invoke
from wf_mcp.sources.protocol import CallResult

pytestmark = pytest.mark.anyio

PINNED = PinnedCapability(source="ops", name="echo", contract=Contract(), digest="sha256:0")


def invocation(**more: Any) -> Invocation:
    told: dict[str, Any] = {
        "call_id": "c7",
        "capability": "logical.echo",
        "step_id": "say",
        "path": ("say",),
        "input": {"text": "hello"},
        "attempt": 2,
        "timeout_seconds": None,
        "repeatable": False,
    }
    return Invocation(**told | more)


async def call(source: ScriptedSource, **more: Any) -> CallResult | CallFailure:
    sources = {source.name: source}
    with anyio.fail_after(5):
        told = await invoke(sources, PINNED, invocation(**more), run_id="run_1", max_bytes=100)
    assert isinstance(told, CallResult | CallFailure)
    return told


async def test_the_pinned_source_is_called_whatever_the_logical_name_means_today() -> None:
    """DESIGN: bindings are resolved through the pin alone."""
    pinned, captor = ScriptedSource("ops"), ScriptedSource("logical")
    sources = {"ops": pinned, "logical": captor}
    result = await invoke(sources, PINNED, invocation(), run_id="run_1", max_bytes=100)
    assert result == CallResult("ok", {"text": "hello"})
    assert len(pinned.calls) == 1
    assert captor.calls == []


async def test_the_capability_learns_where_its_call_stands() -> None:
    source = ScriptedSource()
    await call(source)
    [(name, given, context)] = source.calls
    assert (name, given) == ("echo", {"text": "hello"})
    assert (context.run_id, context.step_id, context.path, context.attempt) == ("run_1", "say", ("say",), 2)
    assert context.idempotency_key == "run_1:c7"


async def test_a_source_that_is_gone_was_not_reached() -> None:
    result = await invoke({}, PINNED, invocation(), run_id="run_1", max_bytes=100)
    assert isinstance(result, CallFailure)
    assert (result.code, result.executed) == ("source_not_found", False)


@pytest.mark.parametrize("executed", [True, False])
async def test_a_failure_says_whether_the_call_may_have_executed(executed: bool) -> None:
    result = await call(ScriptedSource(acts={"echo": failing("no_luck", "not today", executed=executed)}))
    assert result == CallFailure("no_luck", "not today", executed=executed)


async def test_a_time_limit_ends_the_attempt_and_leaves_its_effects_unknown() -> None:
    gate = Gate()
    result = await call(ScriptedSource(acts={"echo": gate}), timeout_seconds=0.01)
    assert isinstance(result, CallFailure)
    assert (result.code, result.executed) == ("timeout", True)
    assert gate.cancelled.is_set()


async def test_a_result_longer_than_the_bound_is_refused() -> None:
    async def talk(given: dict[str, Any]) -> JsonValue:
        return {"text": "é" * 60}

    result = await call(ScriptedSource(acts={"echo": talk}))
    assert isinstance(result, CallFailure)
    assert (result.code, result.executed) == ("too_large", True)
    assert result.details == {"bytes": 131, "max_bytes": 100}


async def test_an_exception_that_no_source_may_raise_fails_the_call_and_shows_nothing_of_itself() -> None:
    async def stumble(given: dict[str, Any]) -> JsonValue:
        raise RuntimeError("secret detail")

    result = await call(ScriptedSource(acts={"echo": stumble}))
    assert isinstance(result, CallFailure)
    assert (result.code, result.executed) == ("internal_error", True)
    assert "secret" not in result.message


async def test_nothing_is_called_before_what_it_waits_for_or_when_that_fails() -> None:
    source = ScriptedSource("ops")
    sources = {"ops": source}

    async def ready() -> None:
        assert source.calls == []

    await invoke(sources, PINNED, invocation(), run_id="run_1", max_bytes=100, ready=ready)
    assert len(source.calls) == 1

    async def fail() -> None:
        raise StoreFull("the run", "no space left")

    with pytest.raises(StoreFull):
        await invoke(sources, PINNED, invocation(), run_id="run_1", max_bytes=100, ready=fail)
    assert len(source.calls) == 1


async def test_cancelling_reaches_the_source() -> None:
    gate = Gate()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, ScriptedSource(acts={"echo": gate}))
            await gate.entered.wait()
            tasks.cancel_scope.cancel()
    assert gate.cancelled.is_set()


async def test_a_result_that_is_no_json_is_a_failure() -> None:
    async def odd(given: dict[str, Any]) -> Any:
        return {"n": float("nan")}

    told = await call(ScriptedSource(acts={"echo": odd}))
    assert isinstance(told, CallFailure)
    assert (told.code, told.executed) == ("output_invalid", True)
