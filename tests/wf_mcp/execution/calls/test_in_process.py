"""Calls that this process makes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.calls.requests import request
from tests.wf_mcp.scripted import ScriptedSource, failing
from wf_core.calls.results import as_text
from wf_mcp.execution.calls.in_process import in_process_executor
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
from wf_mcp.sources.protocol import CallDeferred

pytestmark = pytest.mark.anyio


async def test_a_call_is_made_with_the_source_that_it_is_pinned_to() -> None:
    source = ScriptedSource()
    ended = await in_process_executor({"ops": source}, max_bytes=100).exec_sync(request(n=1))
    assert (as_text(ended.result), ended.output) == ('{"n":1}', {"n": 1})
    context = source.calls[0][2]
    assert (context.run_id, context.step_id, context.path) == ("sess_1", "echo", ("t2", "t2.0"))
    assert (context.idempotency_key, context.token, context.attempt) == ("sess_1:t2.0", "call_1", 1)


async def test_what_goes_wrong_is_a_result_that_says_so() -> None:
    async def broken(given: dict[str, Any]) -> Any:
        raise RuntimeError("secret")

    async def large(given: dict[str, Any]) -> Any:
        return {"result": "x" * 200}

    source = ScriptedSource(acts={"fails": failing("no_luck", "It broke."), "broken": broken, "large": large})
    executor = in_process_executor({"ops": source}, max_bytes=100)
    codes = [(await executor.exec_sync(request(name))).code for name in ("fails", "broken", "large")]
    assert codes == ["no_luck", "internal_error", "too_large"]
    assert "secret" not in as_text((await executor.exec_sync(request("broken"))).result)
    ended = await in_process_executor({}, max_bytes=100).exec_sync(request())
    assert (ended.code, ended.executed) == ("source_not_found", False)


@pytest.mark.parametrize("output", ["x" * 200, float("nan")])
async def test_a_result_that_cannot_be_taken_of_a_call_that_only_reads_had_no_effect(output: Any) -> None:
    async def reads(given: dict[str, Any]) -> Any:
        return {"result": output}

    executor = in_process_executor({"ops": ScriptedSource(acts={"reads": reads})}, max_bytes=100)
    for read_only, effect in ((True, "It had no effect."), (False, "It may have had its effect.")):
        ended = await executor.exec_sync(request("reads", read_only=read_only))
        assert as_text(ended.result).endswith(effect)


async def test_a_callee_that_goes_on_elsewhere_puts_its_call_off() -> None:
    async def elsewhere(given: dict[str, Any]) -> Any:
        raise CallDeferred("a session waits")

    executor = in_process_executor({"ops": ScriptedSource(acts={"echo": elsewhere})}, max_bytes=100)
    assert await executor.exec_async(request()) == CallYield("call_1", kind="callee", reason="a session waits")
    with pytest.raises(CallDeferred):
        await executor.exec_sync(request())
    done = in_process_executor({"ops": ScriptedSource()}, max_bytes=100)
    assert isinstance(await done.exec_async(request()), CallComplete)


@pytest.mark.parametrize(
    "output", [{"when": datetime(2026, 1, 1, tzinfo=UTC)}, [float("nan")], nested(300), [10**5000]]
)
async def test_what_is_no_json_is_a_failure_that_says_so(output: Any) -> None:
    async def odd(given: dict[str, Any]) -> Any:
        return output

    ended = await in_process_executor({"ops": ScriptedSource(acts={"odd": odd})}, max_bytes=1000).exec_sync(
        request("odd")
    )
    assert (ended.code, ended.executed, ended.result.error) == ("output_invalid", True, True)
