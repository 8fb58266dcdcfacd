"""One stretch of a session, from here to where it rests."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, calling, isolated, resumed, saying, started, told
from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, opened
from wf_artifacts.stores import open_stores
from wf_core.errors import WfError
from wf_core.sessions import PartialUserTurn
from wf_mcp.execution.sessions.errors import SessionAdvancingFailed
from wf_mcp.execution.sessions.scheduling import Scheduler

pytestmark = pytest.mark.anyio

WORKER = """
IFS= read -r line
token=${line#*'"token":"'}
printf '{"token":"%s","status":"success","result":{"type":"text","content":"from the hut"}}' "${token%%'"'*}"
"""
BACKGROUND: dict[str, Any] = {"tag": "runAsync"}


async def test_words_are_stored_while_the_model_thinks_and_reach_it_with_the_next_turn(tmp_path: Path) -> None:
    slow = saying("First.") | {"delayMilliseconds": 200}
    async with opened() as app:
        session = await started(app, agent(tmp_path, [slow, saying("Second: {{query}}")]))
        handle = await app.sessions.resume(session)
        await app.sessions.resume(session, prompt="And this?")
        assert len((await app.stores.sessions.load(session)).events) == 2
        with anyio.fail_after(5):
            await app.sessions.wait(handle)
        assert (await app.sessions.view(session)).record.answer == "Second: And this?"


async def test_words_are_taken_while_a_call_runs(tmp_path: Path) -> None:
    gate = Gate({"result": "through"})
    async with opened(ScriptedSource(acts={"hold": gate})) as app:
        session = await started(app, agent(tmp_path, [calling("hold"), saying("{{query}} {{results}}")], "hold"))
        handle = await app.sessions.resume(session)
        await gate.entered.wait()
        await app.sessions.resume(session, prompt="Hurry.")
        gate.opened.set()
        with anyio.fail_after(5):
            await app.sessions.wait(handle)
        assert (await app.sessions.view(session)).record.answer == "Hurry. - hold: through"


@pytest.mark.parametrize("ending", ["length", "content_filter", "error"])
async def test_no_call_of_half_an_answer_is_made_and_resuming_asks_again(tmp_path: Path, ending: str) -> None:
    cut = calling("spend", text="Half an ans") | {"finishReason": ending}
    source = ScriptedSource(acts={"spend": echo})
    async with opened(source) as app:
        session = await started(app, agent(tmp_path, [cut, saying("{{results}}")], "spend"))
        for _ in range(2):
            shown = await resumed(app, session)
            assert (shown.record.status, len(shown.session.turns)) == ("ready", 1)
            assert shown.record.error is not None
            assert shown.record.error["code"].startswith("model_")
        assert source.calls == []
        await anyio.Path(tmp_path / "answers.json").write_text('{"answers": [{"text": "The whole of it."}]}')
        assert (await resumed(app, session)).record.answer == "The whole of it."


async def test_a_history_that_a_model_would_refuse_is_a_fault_of_ours_and_leaves_the_session_as_it_was(
    tmp_path: Path,
) -> None:
    async with opened() as app:
        snapshot = agent(tmp_path, [saying("Hello.")])
        session = await started(app, snapshot)

        class Broken:
            async def ask(self, request: Any) -> Any:
                raise RuntimeError("secret")

        app.sessions.means.open_model(snapshot)
        outside: Any = app.sessions.means.open_model
        outside.__self__._models.update(dict.fromkeys(outside.__self__._models, Broken()))
        handle = await app.sessions.resume(session)
        with pytest.raises(SessionAdvancingFailed):
            await app.sessions.wait(handle)
        assert (await app.stores.sessions.load_record(session)).status == "running"
        assert await app.stores.sessions.abandoned() == [session]


async def test_a_program_that_ends_leaves_its_sessions_as_they_were_stored(tmp_path: Path) -> None:
    gate, stores = Gate(), open_stores("memory://")
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app:
        session = await started(app, agent(tmp_path, [calling("hold")], "hold"))
        handle = await app.sessions.resume(session)
        await gate.entered.wait()
    assert gate.cancelled.is_set()
    with pytest.raises(WfError, match="shutting down"):
        await app.sessions.wait(handle)
    assert (await stores.sessions.load_record(session)).pending[0].state == "running"


async def test_isolated_calls_are_run_when_it_is_asked_for_and_nothing_else_is(tmp_path: Path) -> None:
    """A17: calls that run at once, in the background, in isolation and outside, and one that fails, in one turn."""
    rules: dict[str, Any] = {"slow": BACKGROUND, "hut": {"tag": "runIsolated", "spec": {"sandbox": "process"}}}
    async with opened(ScriptedSource(acts=dict.fromkeys(["echo", "slow", "hut"], echo))) as app:
        snapshot = agent(
            tmp_path,
            [calling("echo", "slow", "hut", "nobody"), saying("Done.")],
            "echo",
            "slow",
            "hut",
            rules=rules,
            runner={"sandbox": "process", "command": ["/bin/sh", "-c", WORKER]},
        )
        session = await started(app, snapshot)
        waiting = await resumed(app, session)
        assert [(call.name, call.kind) for call in waiting.pending] == [("hut", "isolated")]
        rested = await isolated(app, session)
        assert (rested.record.status, len(rested.session.turns)) == ("ready", 3)
        ended = await resumed(app, session)
    assert told(ended)[:3] == ["echo: {}", "slow: {}", "hut: from the hut"]
    assert "nobody" in told(ended)[3]


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), WfError("it cannot be told")])
async def test_a_fault_in_taking_one_end_loses_no_end_of_another_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    gate = Gate({})
    source = ScriptedSource(acts={"pay": gate})
    taken = Scheduler.take
    faults = [fault]

    async def take(self: Scheduler, call_id: str, ended: Any) -> None:
        if call_id == "t2.1" and faults:
            raise faults.pop()
        await taken(self, call_id, ended)

    monkeypatch.setattr(Scheduler, "take", take)
    async with opened(source) as app:
        script = [calling("pay", "pay", "pay"), saying("Done.")]
        session = await started(app, agent(tmp_path, script, "pay", max_concurrency=3))
        handle = await app.sessions.resume(session)
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
        with pytest.raises(WfError):
            await app.sessions.wait(handle)
        shown = await app.sessions.view(session)
        last = shown.session.turns[-1]
        assert isinstance(last, PartialUserTurn)
        assert [call.state for call in last.calls] == ["completed", "running", "completed"]
        await resumed(app, session)
    assert len(source.calls) == 3
