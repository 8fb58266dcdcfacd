"""One decorated function as a capability."""

import asyncio
import threading
from types import ModuleType
from typing import Any

import anyio
import pytest

from wf_artifacts.sources.models import contract_digest
from wf_core import CallContext, Outcome, capability
from wf_core.calls.capability import mark_of
from wf_core.calls.contract import Hints
from wf_mcp.config import Redactor
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.python.functions import PythonCapability, read_function, read_module

pytestmark = pytest.mark.anyio


def read(function: Any) -> PythonCapability:
    mark = mark_of(function)
    assert mark is not None
    return read_function("ops", mark.name or function.__name__, function, mark)


async def failure(function: Any, context: CallContext, redactor: Redactor, **input: Any) -> CallFailed:
    with pytest.raises(CallFailed) as failed:
        await read(function).call(input, context, redactor)
    return failed.value


def test_the_contract_says_what_the_decorator_and_the_hints_say() -> None:
    @capability(read_only=True, outcomes=("ok", "rejected"))
    def word_count(text: str) -> int:
        """Count the words of a text."""
        return len(text.split())

    read_capability = read(word_count).capability

    assert read_capability.full_name == "ops.word_count"
    assert (read_capability.title, read_capability.description) == ("Word count", "Count the words of a text.")
    assert read_capability.contract.outcomes == ("ok", "rejected")
    assert read_capability.contract.hints == Hints(read_only=True, idempotent=True, destructive=False)
    assert read_capability.digest == contract_digest(read_capability.contract)


async def test_synchronous_functions_run_beside_the_loop_and_asynchronous_ones_in_it(
    context: CallContext, redactor: Redactor
) -> None:
    @capability()
    def blocking() -> bool:
        return threading.current_thread() is threading.main_thread()

    @capability()
    async def waiting() -> bool:
        await anyio.lowlevel.checkpoint()
        return threading.current_thread() is threading.main_thread()

    assert (await read(blocking).call({}, context, redactor)).output == {"result": False}
    assert (await read(waiting).call({}, context, redactor)).output == {"result": True}


async def test_the_context_arrives(context: CallContext, redactor: Redactor) -> None:
    @capability()
    async def charge(amount: float, ctx: CallContext) -> dict[str, Any]:
        return {"key": ctx.idempotency_key, "attempt": ctx.attempt, "amount": amount}

    result = await read(charge).call({"amount": 1}, context, redactor)

    assert result == CallResult("ok", {"key": "run_1:call_1", "attempt": 2, "amount": 1.0})


async def test_an_outcome_is_told_apart_from_the_output(context: CallContext, redactor: Redactor) -> None:
    @capability(outcomes=("ok", "rejected", "error"))
    def charge(how: str) -> dict[str, Any]:
        return Outcome(how, {"message": "no"} if how != "rejected" else None)  # pyright: ignore[reportReturnType]  # as its author may write it

    assert await read(charge).call({"how": "rejected"}, context, redactor) == CallResult("rejected", {})
    assert await read(charge).call({"how": "error"}, context, redactor) == CallResult("error", {"message": "no"})
    refused = await failure(charge, context, redactor, how="other")
    assert (refused.code, refused.executed) == ("output_invalid", True)
    assert refused.details["outcomes"] == ["ok", "rejected", "error"]


@pytest.mark.parametrize("raised", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration])
async def test_whatever_user_code_raises_ends_the_call_only(
    raised: type[BaseException], context: CallContext, redactor: Redactor
) -> None:
    @capability()
    def blocking() -> None:
        raise raised("sesame-street")

    @capability()
    async def waiting() -> None:
        raise raised("sesame-street")

    for function in (blocking, waiting):
        failed = await failure(function, context, redactor)
        assert (failed.code, failed.executed) == ("capability_error", True)
        assert "sesame" not in failed.message
        assert "Traceback" not in failed.message


async def test_a_cancellation_of_its_own_making_is_a_failure(context: CallContext, redactor: Redactor) -> None:
    @capability()
    async def waiting() -> None:
        raise asyncio.CancelledError

    assert (await failure(waiting, context, redactor)).code == "capability_error"


async def test_cancelling_reaches_the_function_and_leaves_a_thread_behind(
    context: CallContext, redactor: Redactor
) -> None:
    release, ended = threading.Event(), anyio.Event()
    started = anyio.Event()

    @capability()
    async def waiting() -> None:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    @capability()
    def blocking() -> None:
        anyio_started()
        release.wait(5)

    loop = asyncio.get_running_loop()

    def anyio_started() -> None:
        loop.call_soon_threadsafe(started.set)

    for function in (waiting, blocking):
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read(function).call, dict[str, Any](), context, redactor)
                await started.wait()
                started = anyio.Event()
                tasks.cancel_scope.cancel()
    release.set()
    assert ended.is_set()


async def test_results_hold_no_secret_and_nothing_of_the_function_itself(
    context: CallContext, redactor: Redactor
) -> None:
    kept = {"items": ["sesame-street"]}

    @capability()
    def leak() -> dict[str, Any]:
        return kept

    result = await read(leak).call({}, context, redactor)
    assert result.output == {"items": ["[redacted]"]}
    kept["items"].append("later")
    assert result.output == {"items": ["[redacted]"]}


def test_a_module_offers_each_decorated_function_once_and_tells_of_the_others(redactor: Redactor) -> None:
    @capability()
    def good() -> None: ...

    @capability()
    def bad(**values: int) -> None: ...

    @capability(name="good")
    def twin() -> None: ...

    @capability(name="not/a name")
    def named() -> None: ...

    module = ModuleType("ops")
    vars(module).update(good=good, same=good, bad=bad, twin=twin, named=named, plain=len)

    offered, diagnostics = read_module("ops", module, redactor)

    assert list(offered) == ["good"]
    assert [diagnostic.message.partition(" ")[0] for diagnostic in diagnostics] == ["ops.bad", "ops.good", "ops.not/a"]
    assert {diagnostic.severity for diagnostic in diagnostics} == {"error"}
