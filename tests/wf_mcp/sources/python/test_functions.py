"""One decorated function as a capability."""

import asyncio
import threading
from enum import StrEnum
from types import ModuleType
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BeforeValidator, Field, PlainSerializer

from wf_artifacts.sources.models import contract_digest
from wf_core import CallContext, Outcome, capability
from wf_core.calls.capability import mark_of
from wf_core.calls.contract import Hints
from wf_mcp.config import Redactor
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.loops import LoopThread
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.python.functions import PythonCapability, read_function, read_module

pytestmark = pytest.mark.anyio


def read(function: Any, redactor: Redactor | None = None) -> PythonCapability:
    mark = mark_of(function)
    assert mark is not None
    return read_function("ops", mark.name or function.__name__, function, mark, redactor or Redactor())


async def failure(function: Any, context: CallContext, redactor: Redactor, **input: Any) -> CallFailed:
    with pytest.raises(CallFailed) as failed:
        await call(function, context, redactor, **input)
    return failed.value


async def call(function: Any, context: CallContext, redactor: Redactor, **input: Any) -> CallResult:
    coroutines = LoopThread("coroutines")
    try:
        return await read(function).call(input, context, redactor, coroutines)
    finally:
        await coroutines.close()


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


def test_what_is_told_of_a_function_holds_no_secret(redactor: Redactor) -> None:
    @capability()
    def leak(key: str = "sesame-street") -> Annotated[str, Field(description="of sesame-street")]:
        """Leak sesame-street."""
        return key

    told = read(leak, redactor).capability

    assert told.description == "Leak [redacted]."
    assert "sesame" not in repr(told)


async def test_no_function_runs_on_the_loop_of_the_caller(context: CallContext, redactor: Redactor) -> None:
    @capability()
    def blocking() -> bool:
        return threading.current_thread() is threading.main_thread()

    @capability()
    async def waiting() -> bool:
        await anyio.lowlevel.checkpoint()
        return threading.current_thread() is threading.main_thread()

    assert (await call(blocking, context, redactor)).output == {"result": False}
    assert (await call(waiting, context, redactor)).output == {"result": False}


async def test_the_context_arrives(context: CallContext, redactor: Redactor) -> None:
    @capability()
    async def charge(amount: float, ctx: CallContext) -> dict[str, Any]:
        return {"key": ctx.idempotency_key, "attempt": ctx.attempt, "amount": amount}

    result = await call(charge, context, redactor, amount=1)

    assert result == CallResult("ok", {"key": "run_1:call_1", "attempt": 2, "amount": 1.0})


async def test_an_outcome_is_told_apart_from_the_output(context: CallContext, redactor: Redactor) -> None:
    @capability(outcomes=("ok", "rejected", "error"))
    def charge(how: str) -> dict[str, Any]:
        return Outcome(how, {"message": "no"} if how != "rejected" else None)  # pyright: ignore[reportReturnType]  # as its author may write it

    assert await call(charge, context, redactor, how="rejected") == CallResult("rejected", {})
    assert await call(charge, context, redactor, how="error") == CallResult("error", {"message": "no"})
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
    def blocking() -> None:
        raise asyncio.CancelledError

    @capability()
    async def raising() -> None:
        raise asyncio.CancelledError

    @capability()
    async def cancelling() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    for function in (blocking, raising, cancelling):
        failed = await failure(function, context, redactor)
        assert (failed.code, failed.message) == ("capability_error", "CancelledByItself: the code cancelled itself")


async def test_user_code_around_the_function_runs_beside_the_loop_too_and_ends_the_call_only(
    context: CallContext, redactor: Redactor
) -> None:
    """Validators, serializers and `__str__` are the user's; each may raise anything."""
    threads = set[threading.Thread]()

    class Loud(Exception):
        def __str__(self) -> str:
            threads.add(threading.current_thread())
            raise SystemExit

    def refuse(value: Any) -> Any:
        threads.add(threading.current_thread())
        raise SystemExit(f"no {value}")

    @capability()
    async def strict(value: Annotated[int, BeforeValidator(refuse)]) -> None: ...

    @capability()
    async def shy() -> Annotated[int, PlainSerializer(refuse)]:
        return 1

    @capability()
    async def loud() -> None:
        raise Loud

    assert (await failure(strict, context, redactor, value=1)).code == "input_invalid"
    assert (await failure(shy, context, redactor)).code == "output_invalid"
    assert (await failure(loud, context, redactor)).message == "Loud"
    assert threads
    assert threading.current_thread() not in threads


async def test_a_synchronous_function_may_give_an_awaitable(context: CallContext, redactor: Redactor) -> None:
    @capability()
    def later() -> Any:
        return asyncio.sleep(0, {"n": 1})

    assert (await call(later, context, redactor)).output == {"n": 1}


async def test_cancelling_reaches_the_function_and_does_not_wait_for_one_that_blocks(
    context: CallContext, redactor: Redactor
) -> None:
    release, ended, started = threading.Event(), threading.Event(), threading.Event()

    @capability()
    async def waiting() -> None:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    @capability()
    def blocking() -> None:
        started.set()
        release.wait(5)

    @capability()
    async def blocking_too() -> None:
        started.set()
        release.wait(5)

    coroutines = LoopThread("coroutines")
    for function in (waiting, blocking, blocking_too):
        with anyio.fail_after(4):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read(function).call, dict[str, Any](), context, redactor, coroutines)
                while not started.is_set():
                    await anyio.lowlevel.checkpoint()
                started.clear()
                tasks.cancel_scope.cancel()
    release.set()
    await coroutines.close()
    assert ended.is_set()


async def test_results_hold_no_secret_and_nothing_of_the_function_itself(
    context: CallContext, redactor: Redactor
) -> None:
    kept = {"items": ["sesame-street"]}

    @capability()
    def leak() -> dict[str, Any]:
        return kept

    result = await call(leak, context, redactor)
    assert result.output == {"items": ["[redacted]"]}
    kept["items"].append("later")
    assert result.output == {"items": ["[redacted]"]}


async def test_an_outcome_may_be_named_by_an_enum_and_by_nothing_else_than_text(
    context: CallContext, redactor: Redactor
) -> None:
    class Answer(StrEnum):
        NO = "no"

    @capability(outcomes=("ok", "no"))
    async def decide(how: str) -> Any:
        return Outcome(Answer.NO) if how == "enum" else Outcome(7)  # pyright: ignore[reportArgumentType]  # as its author may write it

    answered = await call(decide, context, redactor, how="enum")
    assert (answered, type(answered.outcome)) == (CallResult("no", {}), str)
    assert (await failure(decide, context, redactor, how="number")).details["outcome"] == "7"


def leave() -> None:
    raise SystemExit("sesame-street")


def test_what_a_value_of_the_module_raises_when_looked_at_costs_only_itself(redactor: Redactor) -> None:
    class Shy:
        def __getattr__(self, name: str) -> Any:
            raise SystemExit(name)

    @capability()
    def loud(value: int) -> None: ...

    loud.__annotations__["value"] = "leave()"

    @capability()
    def good() -> None: ...

    module = ModuleType("ops")
    vars(module).update(shy=Shy(), loud=loud, good=good)

    offered, diagnostics = read_module("ops", module, redactor)

    assert list(offered) == ["good"]
    assert [d.message for d in diagnostics] == ["ops.loud is not offered: SystemExit: [redacted]."]


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
