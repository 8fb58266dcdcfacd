"""One call of a run as its deployment's policy wants it: limited, repeated, from the cache, in isolation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.callees.place import Home, deploy, plan, run
from tests.wf_mcp.scripted import Act, Gate, ScriptedSource, failing
from wf_artifacts.clock import SystemClock
from wf_artifacts.runs.environment import PinnedCapability
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.stores import open_stores
from wf_core.calls.contract import Contract, Hints
from wf_core.calls.policy import IsolationSpec
from wf_core.calls.policy_data import read_disposition
from wf_core.calls.results import ToolResult, json_result, text_result
from wf_core.ids import ArtifactId, DeploymentId, RunId
from wf_core.jsonvalue import JsonValue, loads
from wf_core.runtime import CallFailure, Invocation
from wf_mcp.execution.carrying import carry_out
from wf_mcp.execution.invoke import Deferred
from wf_mcp.execution.means import Means
from wf_mcp.isolation.errors import IsolationError
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.sources.protocol import CallDeferred, CallResult
from wf_mcp.sources.registry import SourceRegistry

pytestmark = pytest.mark.anyio

READING = Contract(hints=Hints(read_only=True, idempotent=True))


class Workers:
    """A runner that answers what the test says."""

    name = "process"

    def __init__(self, answer: ToolResult | IsolationError) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.seconds: float | None = None

    async def execute(
        self,
        spec: IsolationSpec,
        request: bytes,
        token: str,
        *,
        capability: str = "",
        timeout_seconds: float | None = None,
    ) -> ToolResult:
        asked: Any = loads(request)
        self.asked.append({**asked, "capability": capability})
        self.seconds = timeout_seconds
        if isinstance(self.answer, IsolationError):
            raise self.answer
        return self.answer


class Place:
    """Where one call is carried out again and again."""

    def __init__(self, means: Means, source: ScriptedSource, contract: Contract) -> None:
        self.means = means
        self.source = source
        self.contract = contract

    async def call(self, disposition: dict[str, Any], principal: str = "local", **more: Any) -> Any:
        then = datetime(2026, 11, 30, tzinfo=UTC)
        record = RunRecord(
            run_id=RunId("run_1"),
            principal=principal,
            deployment_id=DeploymentId("flow"),
            artifact_id=ArtifactId("flow"),
            artifact_version=1,
            status="running",
            checkpoint=1,
            input_digest="",
            created_at=then,
            updated_at=then,
        )
        told: dict[str, Any] = {
            "call_id": "c7",
            "capability": "logical.act",
            "step_id": "say",
            "path": ("say",),
            "input": {"text": "hello"},
            "attempt": 1,
            "timeout_seconds": None,
            "repeatable": self.contract.hints.repeatable,
        }
        pinned = PinnedCapability(source="ops", name="act", contract=self.contract, digest="sha256:0")
        with anyio.fail_after(5):
            return await carry_out(self.means, record, pinned, Invocation(**told | more), read_disposition(disposition))


@asynccontextmanager
async def place(
    act: Act, contract: Contract = READING, runner: DeploymentRunner | None = None
) -> AsyncGenerator[Place]:
    source = ScriptedSource(acts={"act": act}, contracts={"act": contract})
    clock = SystemClock()
    async with open_stores("memory://") as stores:
        registry = SourceRegistry({"ops": source})
        means = Means(
            stores.runs, registry, clock, lambda: 0.0, 1000, cache=stores.cache, runner=lambda spec, source: runner
        )
        yield Place(means, source, contract)


def decorate(*decorators: dict[str, Any], inner: str = "runSync") -> dict[str, Any]:
    return {"tag": "decorate", "decorators": list(decorators), "inner": {"tag": inner}}


async def echo(given: dict[str, Any]) -> JsonValue:
    return given


async def test_a_call_in_no_hurry_is_made_as_it_comes() -> None:
    async with place(echo) as here:
        assert await here.call(decorate({"tag": "withLabel", "text": "x"})) == CallResult("ok", {"text": "hello"})


async def test_a_limit_of_the_policy_ends_a_call() -> None:
    async with place(Gate()) as here:
        ended = await here.call(decorate({"tag": "withTimeout", "seconds": 0.01}))
        assert isinstance(ended, CallFailure)
        assert (ended.code, ended.executed) == ("timeout", True)
        assert ended.message == "ops.act did not answer within 0.01 seconds."


async def test_the_limit_of_the_step_holds_around_all_attempts() -> None:
    async with place(Gate()) as here:
        ended = await here.call(decorate({"tag": "withRetries", "times": 3}), timeout_seconds=0.01)
        assert isinstance(ended, CallFailure)
        assert ended.code == "timeout"
        assert len(here.source.calls) == 1


@pytest.mark.parametrize(
    ("contract", "executed", "attempts"),
    [(READING, True, 3), (Contract(), False, 3), (Contract(), True, 1)],
    ids=["repeatable", "not executed", "perhaps executed"],
)
async def test_a_failed_call_is_repeated_where_it_may_be(contract: Contract, executed: bool, attempts: int) -> None:
    async with place(failing(executed=executed), contract) as here:
        ended = await here.call(decorate({"tag": "withRetries", "times": 2}))
        assert ended == CallFailure("capability_error", "it broke", executed=executed)
        assert [context.attempt for _, _, context in here.source.calls] == list(range(1, attempts + 1))
        assert {context.idempotency_key for _, _, context in here.source.calls} == {"run_1:c7"}


async def test_a_kept_result_is_as_good_as_a_call() -> None:
    async with place(echo) as here:
        cached = decorate({"tag": "withCacheKey"})
        first = await here.call(cached)
        assert await here.call(cached) == first == CallResult("ok", {"text": "hello"})
        assert len(here.source.calls) == 1
        await here.call(cached, input={"text": "other"})
        await here.call(cached, principal="mallory")
        await here.call({"tag": "runSync"})
        assert len(here.source.calls) == 4


async def test_failures_are_not_kept() -> None:
    async with place(failing()) as here:
        for _ in range(2):
            await here.call(decorate({"tag": "withCacheKey"}))
        assert len(here.source.calls) == 2


async def test_an_outcome_of_its_own_is_kept_and_the_outcome_error_is_not() -> None:
    answers = iter([CallResult("error", {"message": "no"}), CallResult("later", {"n": 1})])

    async def act(given: dict[str, Any]) -> Any:
        return next(answers)

    async with place(act) as here:
        cached = decorate({"tag": "withCacheKey", "key": "one"})
        assert (await here.call(cached)).outcome == "error"
        assert [await here.call(cached) for _ in range(2)] == [CallResult("later", {"n": 1})] * 2


async def test_a_callee_that_puts_a_call_off_is_heard_through_every_decoration() -> None:
    async def act(given: dict[str, Any]) -> JsonValue:
        raise CallDeferred("the session waits")

    async with place(act) as here:
        retried = decorate({"tag": "withRetries", "times": 2}, {"tag": "withTimeout", "seconds": 5})
        assert await here.call(retried) == Deferred("callee", "the session waits")


async def test_an_isolated_call_without_a_runner_waits() -> None:
    async with place(echo) as here:
        assert await here.call({"tag": "runIsolated"}) == Deferred("isolated", "no runner")
        assert here.source.calls == []


async def test_an_isolated_call_is_made_by_the_runner_and_its_answer_is_the_capabilitys() -> None:
    workers = Workers(json_result({"text": "from a worker"}))
    async with place(echo, runner=workers) as here:
        limited = decorate({"tag": "withTimeout", "seconds": 3}, inner="runIsolated")
        assert await here.call(limited) == CallResult("ok", {"text": "from a worker"})
        assert here.source.calls == []
        (asked,) = workers.asked
        assert (asked["capability"], asked["token"]) == ("ops.act", "call_1_c7")
        assert asked["toolCall"] == {"name": "act", "arguments": {"text": "hello"}}
        assert (asked["contextSnapshot"]["runId"], asked["contextSnapshot"]["turnId"]) == ("run_1", "say")
        assert workers.seconds == 3


TWO = Contract(outcomes=("ok", "later"))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (json_result({"outcome": "later", "output": {"n": 1}}), CallResult("later", {"n": 1})),
        (json_result({"outcome": "else", "output": 1}), CallResult("ok", {"outcome": "else", "output": 1})),
        (text_result("words"), CallResult("ok", {"result": "words"})),
        (text_result("code: broken", error=True), CallFailure("capability_error", "code: broken")),
        (json_result("x" * 2000), CallFailure("too_large", "ops.act gave 2002 bytes; at most 1000 are taken.")),
        (
            IsolationError("isolation_timeout", "It took too long.", executed=True),
            CallFailure("isolation_timeout", "It took too long."),
        ),
        (
            IsolationError("isolation_unavailable", "No engine.", executed=False),
            CallFailure("isolation_unavailable", "No engine.", executed=False),
        ),
    ],
    ids=["outcome", "no outcome", "text", "error", "too large", "timeout", "unavailable"],
)
async def test_what_a_worker_says_is_read_as_the_capabilitys_answer(answer: Any, expected: Any) -> None:
    async with place(echo, TWO, Workers(answer)) as here:
        assert await here.call({"tag": "runIsolated"}) == expected


def counts(**more: Any) -> dict[str, Any]:
    step = {"type": "node", "use": "ops.count", "input": {"who": {"value": "me"}}, "output": {"state.who": "who"}}
    return plan({"count": {**step, "routes": {"ok": "__end__"}, **more}}, output="who")


async def test_our_own_worker_carries_out_an_isolated_step(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        isolates = {"rules": [{"tool": "ops.*", "disposition": {"tag": "runIsolated"}}]}
        await deploy(app, "flow", counts(), call_policy=isolates)
        done = await run(app, "flow")
        assert (done.status, done.output) == ("completed", {"who": "me"})
    assert home.counted == ["me"]


async def test_an_isolated_step_that_nobody_can_carry_out_was_never_begun(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.open() as app:
        isolates = {"default": {"tag": "runIsolated"}}
        steps = {"now": {"type": "node", "use": "wf.std.now", "routes": {"ok": "__end__"}}}
        await deploy(app, "flow", plan(steps), call_policy=isolates)
        stopped = await run(app, "flow")
        assert stopped.status == "interrupted"
        (call,) = stopped.pending_calls
        assert (call.awaits, call.reason, call.state) == ("isolated", "no runner", "deferred")
