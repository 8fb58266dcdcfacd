"""Which calls begin when, and when the model is asked although calls still run."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.sessions.workplace import agent, calling, resumed, saying, started, stepped, told, tool
from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, opened
from wf_core.calls.results import as_text, json_result
from wf_core.codec.sessions import replay
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.sessions import PlacedResult, UserTurn, YieldStrategy
from wf_mcp.execution.calls.protocol import CallComplete, CallRequest
from wf_mcp.execution.sessions import scheduling
from wf_mcp.execution.sessions.making import executor_of
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.sources.protocol import CallDeferred, CallResult

pytestmark = pytest.mark.anyio

BACKGROUND: dict[str, Any] = {"tag": "runAsync"}
LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


def results(view: SessionView, turn: int) -> tuple[PlacedResult, ...]:
    given = view.session.turns[turn]
    assert isinstance(given, UserTurn)
    return given.results


async def test_calls_run_one_after_another_unless_the_agent_says_how_many_may_run_together(tmp_path: Path) -> None:
    running, most = 0, 0

    async def work(given: dict[str, Any]) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.01)
        running -= 1
        return given

    async with opened(ScriptedSource(acts={"work": work})) as app:
        seen: list[int] = []
        for together in (1, 3):
            script = [calling(*["work"] * 6), saying("Done.")]
            session = await started(app, agent(tmp_path, script, "work", max_concurrency=together))
            assert (await resumed(app, session)).record.status == "answered"
            seen.append(most)
    assert seen == [1, 3]


async def test_a_call_in_the_background_runs_beside_those_that_run_at_once(tmp_path: Path) -> None:
    slow = Gate({"result": "slow"})

    async def quick(given: dict[str, Any]) -> Any:
        await slow.entered.wait()
        slow.opened.set()
        return given

    async with opened(ScriptedSource(acts={"slow": slow, "quick": quick})) as app:
        script = [calling("quick", "slow"), saying("Done.")]
        session = await started(app, agent(tmp_path, script, "quick", "slow", rules={"slow": BACKGROUND}))
        with anyio.fail_after(5):
            assert told(await resumed(app, session)) == ["quick: {}", "slow: slow"]


async def test_a_synchronous_agent_runs_nothing_in_the_background(tmp_path: Path) -> None:
    order: list[str] = []

    def noting(name: str) -> Any:
        async def act(given: dict[str, Any]) -> Any:
            order.append(f"{name} begins")
            await anyio.sleep(0.01)
            order.append(f"{name} ends")
            return given

        return act

    async with opened(ScriptedSource(acts={"a": noting("a"), "b": noting("b")})) as app:
        snapshot = agent(tmp_path, [calling("a", "b"), saying("")], "a", "b", rules={"*": BACKGROUND})
        await resumed(app, await started(app, snapshot))
        assert order == ["a begins", "b begins", "a ends", "b ends"]
        order.clear()
        snapshot = agent(
            tmp_path, [calling("a", "b"), saying("")], "a", "b", rules={"*": BACKGROUND}, execution_mode="synchronous"
        )
        await resumed(app, await started(app, snapshot))
    assert order == ["a begins", "a ends", "b begins", "b ends"]


async def test_yield_on_any_progress_asks_the_model_with_a_placeholder_and_tells_the_result_once(
    tmp_path: Path,
) -> None:
    slow = Gate({"result": "slow result"})
    async with opened(ScriptedSource(acts={"echo": echo, "slow": slow})) as app:
        snapshot = agent(
            tmp_path,
            [calling("slow", "echo"), calling(("echo", {"n": 2})), saying("Not yet."), saying("Now.")],
            "echo",
            "slow",
            rules={"slow": BACKGROUND},
            yield_strategy=YieldStrategy("yieldOnAnyProgress"),
        )
        session = await started(app, snapshot)
        handle = await app.sessions.resume(session)
        with anyio.fail_after(5):
            while (view := await app.sessions.view(session)).session.turns[-1:] and len(view.session.turns) < 6:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            slow.opened.set()
            await app.sessions.wait(handle)
        ended = await app.sessions.view(session)
    assert ended.record.answer == "Now."
    first = results(ended, 2)
    assert [(one.name, one.held) for one in first] == [("slow", True), ("echo", False)]
    assert "still run" in as_text(first[0].result)
    assert told(ended) == ["notice slow: slow result"]


async def test_yield_on_timeout_asks_the_model_when_its_time_has_come(tmp_path: Path) -> None:
    slow = Gate({"result": "slow result"})
    async with opened(ScriptedSource(acts={"slow": slow})) as app:
        snapshot = agent(
            tmp_path,
            [calling("slow"), saying("Still waiting."), saying("Now.")],
            "slow",
            rules={"slow": BACKGROUND},
            yield_strategy=YieldStrategy("yieldOnTimeout", 50),
        )
        session = await started(app, snapshot)
        began = anyio.current_time()
        handle = await app.sessions.resume(session)
        with anyio.fail_after(5):
            while len((await app.sessions.view(session)).session.turns) < 4:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            assert anyio.current_time() - began >= 0.05
            slow.opened.set()
            await app.sessions.wait(handle)
        assert (await app.sessions.view(session)).record.answer == "Now."


async def test_a_call_in_the_background_that_runs_too_long_has_failed(tmp_path: Path) -> None:
    """C49: the time limit of the agent fires."""
    slow = Gate()
    async with opened(ScriptedSource(acts={"slow": slow})) as app:
        snapshot = agent(
            tmp_path, [calling("slow"), saying("")], "slow", rules={"slow": BACKGROUND}, call_timeout_seconds=0.05
        )
        with anyio.fail_after(5):
            ended = await resumed(app, await started(app, snapshot))
    assert told(ended) == ["slow: timeout: ops.slow did not end within 0.05 seconds. It may have had its effect."]
    assert slow.cancelled.is_set()


async def test_a_call_that_is_decorated_with_a_time_limit_has_failed_after_it(tmp_path: Path) -> None:
    """C49: the time limit of a policy fires, at once as in the background."""
    limited: dict[str, Any] = {
        "tag": "decorate",
        "decorators": [{"tag": "withTimeout", "seconds": 0.05}],
        "inner": {"tag": "runSync"},
    }
    async with opened(ScriptedSource(acts={"slow": Gate()})) as app:
        snapshot = agent(tmp_path, [calling("slow"), saying("")], "slow", rules={"slow": limited})
        with anyio.fail_after(5):
            ended = await resumed(app, await started(app, snapshot))
    assert told(ended) == ["slow: timeout: ops.slow did not answer within 0.05 seconds. It may have had its effect."]


async def test_a_step_ends_where_the_turn_yields_and_leaves_no_call_running(tmp_path: Path) -> None:
    slow = Gate({"result": "slow"})
    async with opened(ScriptedSource(acts={"echo": echo, "slow": slow})) as app:
        snapshot = agent(
            tmp_path,
            [calling("echo", "slow"), saying("Done.")],
            "echo",
            "slow",
            rules={"slow": BACKGROUND},
            yield_strategy=YieldStrategy("yieldOnAnyProgress"),
        )
        session = await started(app, snapshot)
        await stepped(app, session)
        handle = await app.sessions.step(session)
        with anyio.fail_after(5):
            await slow.entered.wait()
            slow.opened.set()
            await app.sessions.wait(handle)
        rested = await app.sessions.view(session)
    assert (rested.record.status, len(rested.session.turns), rested.record.pending) == ("ready", 3, ())


async def test_a_callee_may_put_its_call_off_and_is_asked_again_on_resume(tmp_path: Path) -> None:
    """Agents and workflows as tools: the call goes from ready to deferred, and its result completes it."""
    keys: list[str] = []
    answers: list[Any] = [CallDeferred("it waits"), CallDeferred("it waits"), {"result": "there"}]

    async def callee(given: dict[str, Any]) -> Any:
        keys.append(source.calls[-1][2].idempotency_key)
        answer = answers[len(keys) - 1]
        if isinstance(answer, CallDeferred):
            raise answer
        return answer

    source = ScriptedSource("agents", acts={"helper": callee}, kind="agents")
    waiting = None
    async with opened(source) as app:
        script = [calling("helper"), saying("{{results}}")]
        session = await started(app, agent(tmp_path, script, tool("helper", source="agents")))
        for _ in range(2):
            waiting = await resumed(app, session)
            assert [(call.kind, call.state, call.reason) for call in waiting.pending] == [
                ("callee", "deferred", "it waits")
            ]
        assert (await resumed(app, session)).record.answer == "- helper: there"
    assert len(set(keys)) == 1
    context = source.calls[0][2]
    assert waiting is not None
    assert context.token == waiting.pending[0].token
    assert (context.run_id, context.step_id, context.path) == (session, "helper", ("t2", "t2.0"))


@pytest.mark.parametrize("rules", [{}, {"echo": LATER}])
async def test_a_call_costs_the_same_however_many_its_turn_has(tmp_path: Path, rules: dict[str, Any]) -> None:
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event == "call"

    async with opened(ScriptedSource(acts={"echo": echo})) as app:
        costs: list[float] = []
        for calls in (20, 160):
            script = [calling(*["echo"] * calls), saying("Done.")]
            session = await started(app, agent(tmp_path, script, "echo", rules=rules, max_concurrency=4))
            before = made
            sys.setprofile(count)
            try:
                await resumed(app, session)
            finally:
                sys.setprofile(None)
            costs.append((made - before) / calls)
    assert costs[1] < 1.3 * costs[0]


@pytest.mark.parametrize("together", [1, 4])
async def test_a_session_goes_on_whatever_its_tools_return_and_no_call_is_made_again(
    tmp_path: Path, together: int
) -> None:
    def deep(levels: int, outcome: str = "ok") -> Any:
        async def act(given: dict[str, Any]) -> Any:
            return CallResult(outcome, nested(levels))

        return act

    async def odd(given: dict[str, Any]) -> Any:
        return {"where": tmp_path}

    acts: dict[str, Any] = {"pay": echo, "odd": odd, "other": deep(MAX_DEPTH, "other")}
    acts |= {f"deep{levels}": deep(levels) for levels in range(MAX_DEPTH - 5, MAX_DEPTH + 3)}
    source = ScriptedSource(acts=acts)
    async with opened(source) as app:
        script = [calling("pay", *acts, "pay"), saying("Done.")]
        session = await started(app, agent(tmp_path, script, *acts, max_concurrency=together))
        shown = await resumed(app, session)
        assert (shown.record.status, len(source.calls)) == ("answered", len(acts) + 2)
        given = {one.name: one.result for one in results(shown, 2)}
        failed = {name for name, result in given.items() if result.error}
        assert failed == {"odd", "other", f"deep{MAX_DEPTH + 1}", f"deep{MAX_DEPTH + 2}"}
        assert all(as_text(given[name]).startswith("output_invalid: ") for name in failed)
        assert given[f"deep{MAX_DEPTH}"] == json_result(nested(MAX_DEPTH))
        stored = await app.stores.sessions.load(session)
        assert replay(stored.header, stored.events).turns == shown.session.turns


async def test_a_fault_of_ours_while_a_call_is_made_is_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        async def exec_sync(self, request: CallRequest) -> CallComplete:
            raise AssertionError

        async def exec_async(self, request: CallRequest) -> CallComplete:
            raise RuntimeError("secret")

    monkeypatch.setattr(
        scheduling,
        "executor_of",
        lambda held, call: Broken() if call.name == "broken" else executor_of(held, call),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType, reportUnknownMemberType]
    )
    source = ScriptedSource(acts={"pay": echo, "broken": echo})
    async with opened(source) as app:
        script = [calling("pay", "broken", "pay"), saying("Done.")]
        session = await started(app, agent(tmp_path, script, "pay", "broken", max_concurrency=3))
        assert told(await resumed(app, session)) == [
            "pay: {}",
            "broken: internal_error: ops.broken failed inside wf-mcp. It may have had its effect.",
            "pay: {}",
        ]
