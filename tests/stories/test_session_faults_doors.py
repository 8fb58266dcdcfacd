"""Faults of sections A, B and C that are about the doors through which an answer comes.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address.
"""

import json
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stories.desk import SUMMARY, Desk, calling, tokens
from tests.stories.workplace import Workplace
from tests.wf_mcp.scripted import ScriptedSource, echo, failing
from wf_core.sessions import LlmTurn, UserTurn, check_history
from wf_core.sessions.models import YieldStrategy
from wf_mcp.agents import Agent
from wf_mcp.app import App
from wf_mcp.execution.sessions.runner import AgentRunner
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.calls import complete_call
from wf_mcp.operations.sessions import resume_session

pytestmark = pytest.mark.anyio

RESULT: dict[str, Any] = {"type": "json", "content": {"n": [1, 2.5, None, "\u00e9"]}}


async def test_a_call_is_answered_through_every_door_with_the_same_bytes(tmp_path: Path) -> None:
    """A20, https://github.com/pydantic/pydantic-ai/issues/8181: one door loses the result, and the call waits again.

    C48, https://github.com/lastmile-ai/mcp-agent/pull/521: it is lost where the process knows the command line alone.
    """
    desk = Desk(tmp_path / "home", [calling("write", "far"), calling("mail"), SUMMARY])
    waiting = desk.wf("agent", "run", "helper", "--prompt", "Go.", status=3)
    session_id, token = waiting["session_id"], tokens(waiting)["far"]
    desk.place.write("result.json", json.dumps(RESULT))

    def by_command(place: Workplace, command: str, word: str) -> None:
        ended = place.wf(command, "complete", token, word, "--json")
        assert ended.returncode == 0, ended

    async def by_session_command(place: Workplace) -> None:
        by_command(place, "session", str(place.folder / "result.json"))
        assert place.wf("session", "complete", token, "result.json").returncode == 2
        assert place.wf("session", "resume", session_id).returncode == 0

    async def by_calls_command(place: Workplace) -> None:
        by_command(place, "calls", json.dumps(RESULT))

    async def by_stdio(place: Workplace) -> None:
        async with place.server() as server:
            await server.call("complete_call", token=token, result=RESULT)

    async def by_http(place: Workplace) -> None:
        async with place.http_server() as url, place.connect(url) as server:
            await server.call("complete_call", token=token, result=RESULT)

    async def by_library(place: Workplace) -> None:
        async with App.open(home=place.home, cwd=place.folder) as app:
            await complete_call(app, token=token, result=RESULT, caller=LOCAL_PERSON)

    doors: list[Callable[[Workplace], Awaitable[None]]] = [
        by_library, by_session_command, by_calls_command, by_stdio, by_http,
    ]  # fmt: skip
    ends: list[tuple[bytes, Any]] = []
    for door in doors:
        place = Workplace(tmp_path / door.__name__)
        shutil.copytree(desk.folder, place.folder)
        await door(place)
        async with App.open(home=place.home, cwd=place.folder) as app:
            waits = await app.stores.continuations.load(token, principal=None, now=app.clock.now())
            told = await resume_session(app, session_id=session_id, caller=LOCAL_PERSON)
        assert told.answer == "- mail: mail done"
        assert waits.delivery is not None
        ends.append(((place.home / "sessions" / session_id / "events.jsonl").read_bytes(), waits.delivery.result))
    assert ends == [ends[0]] * len(doors)


SESSIONS = 300
"""Beside those that `tests/wf_mcp/execution/test_sessions.py` delivers to from another process."""


async def test_a_result_that_comes_at_the_moment_of_the_stop_is_not_missed(tmp_path: Path) -> None:
    """C44, https://github.com/inngest/inngest/issues/1433: who waits begins to listen after the event was there."""
    agent = scripted(tmp_path, [calling("far"), SUMMARY], {"far": {"tag": "defer", "reason": ""}})
    async with AgentRunner.open(agent, sources=[SOURCE], keeps=True) as runner:
        driver, started, at_once = runner.sessions, set[str](), anyio.CapacityLimiter(20)

        async def start(late: float) -> None:
            async with at_once:
                session_id = await runner.start("Go.", auto=True)
                started.add(session_id)
                handle = await driver.resume(session_id)
                while not (pending := (await runner.view(session_id)).pending):  # noqa: ASYNC110
                    await anyio.sleep(0.001)
                await anyio.sleep(late)
                await runner.complete(pending[0].token, "in time")
                await driver.wait(handle)

        async with anyio.create_task_group() as starting:
            for number in range(SESSIONS):
                starting.start_soon(start, (number % 6) / 1000)
        with anyio.fail_after(30):
            while await answered(runner) != started:  # noqa: ASYNC110
                await anyio.sleep(0.05)
    assert len(started) == SESSIONS


async def answered(runner: AgentRunner) -> set[str]:
    found: set[str] = set()
    cursor = None
    while True:
        page = await runner.sessions.means.sessions.list_sessions(
            principal=None, status="answered", cursor=cursor, limit=100
        )
        found |= {record.session_id for record in page.items}
        cursor = page.next_cursor
        if cursor is None:
            return found


SOURCE = ScriptedSource(
    acts={"near": echo, "far": echo, "ask": echo, "apart": echo, "later": echo, "breaks": failing()}
)
POLICY: dict[str, Any] = {
    "far": {"tag": "defer", "reason": ""},
    "ask": {"tag": "defer", "reason": "", "approval": True},
    "apart": {"tag": "runIsolated", "spec": {}},
    "later": {"tag": "runAsync"},
}
TURNS = st.lists(st.lists(st.sampled_from([*SOURCE.acts, "nowhere"]), min_size=1, max_size=5), max_size=4)
WORDS = st.lists(st.sampled_from(["complete", "fail", "approve", "say", "resume", "step"]), max_size=12)
STRATEGIES = st.sampled_from([YieldStrategy("yieldWhenAllDone"), YieldStrategy("yieldOnAnyProgress")])


def scripted(folder: Path, answers: list[dict[str, Any]], rules: dict[str, Any]) -> Agent:
    (folder / "script.json").write_text(json.dumps({"answers": answers}))
    policy: dict[str, Any] = {"rules": [{"tool": name, "disposition": rule} for name, rule in rules.items()]}
    return Agent(
        slug="helper", model="scripted:script.json", tools=("ops.*",), folder=folder, tool_call_policy_config=policy
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=TURNS, words=WORDS, order=st.integers(0, 10_000), strategy=STRATEGIES)
async def test_no_history_ever_has_a_result_without_its_call_or_a_call_without_its_result(
    tmp_path: Path, turns: list[list[str]], words: list[str], order: int, strategy: YieldStrategy
) -> None:
    """A12, https://github.com/openai/openai-agents-python/issues/4827: a provider refuses every later turn.

    The model of the script refuses such a history at each of its answers, and so fails the session.
    """
    agent = scripted(tmp_path, [*[calling(*turn) for turn in turns], *[SUMMARY] * 40], POLICY)
    agent = replace(agent, yield_strategy=strategy)
    async with AgentRunner.open(agent, sources=[SOURCE]) as runner:
        view, choice = await runner.run("Go."), Random(order)
        for word in [*words, *["end"] * 12]:
            view = await do(runner, view, word, choice)
            assert view.record.status in {"answered", "waiting", "ready"}
            assert view.record.error is None
            check(view)
        assert view.record.status == "answered"


async def do(runner: AgentRunner, view: SessionView, word: str, choice: Random) -> SessionView:
    """Do what somebody may do with a session at this moment."""
    session_id, pending = view.record.session_id, list(view.pending)
    call = choice.choice(pending) if pending else None
    if call is not None and word in {"complete", "fail", "approve", "end"}:
        if call.kind == "approval" and word in {"approve", "end"}:
            await runner.approve(call.token)
        elif word == "fail" or call.kind == "approval":
            await runner.fail(call.token, "No.")
        elif word != "approve":
            await runner.complete(call.token, '{"ok": 1}')
    if word == "step":
        return await runner.step(session_id)
    if word == "say" and choice.random() < 0.7:
        return await runner.resume(session_id, "And?")
    return await runner.resume(session_id) if word in {"resume", "end", "say"} else await runner.view(session_id)


def check(view: SessionView) -> None:
    turns = view.session.turns
    last = max((number for number, turn in enumerate(turns) if isinstance(turn, LlmTurn)), default=0)
    check_history(turns[:last])
    if isinstance(turns[-1], UserTurn):
        check_history(turns)
