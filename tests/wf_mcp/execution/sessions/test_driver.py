"""Starting, stepping, resuming and answering sessions."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    ME,
    agent,
    calling,
    delivered,
    result_of,
    resumed,
    saying,
    started,
    stepped,
    tokens,
    told,
)
from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, opened
from wf_artifacts.clock import ManualClock
from wf_artifacts.errors import CallNotFound, SessionBusy, SessionNotFound
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import PersonRequired, WrongAnswerKind
from wf_core.ids import SessionId
from wf_core.sessions import Parent, YieldStrategy, check_history
from wf_mcp.execution.sessions.errors import CallAnswered, CallExpired, RunnerMissing, SessionBlocked

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}
ASK: dict[str, Any] = {"tag": "defer", "reason": "it writes", "approval": True}


async def test_a_session_waits_for_deferred_calls_and_gives_the_model_all_results_in_call_order(tmp_path: Path) -> None:
    ops = ScriptedSource(acts=dict.fromkeys(["near", "far_a", "far_b"], echo))
    script = [calling("far_a", ("near", {"n": 1}), "far_b"), saying("Done: {{results}}")]
    async with opened(ops) as app:
        session = await started(app, agent(tmp_path, script, "near", "far_a", "far_b", rules={"far_*": LATER}))
        waiting = await resumed(app, session)
        assert waiting.record.status == "waiting"
        assert [call.name for call in waiting.pending] == ["far_a", "far_b"]
        token = tokens(waiting)
        await delivered(app, token["far_b"], "from b")
        await delivered(app, token["far_a"], {"type": "json", "content": 7})
        ended = await resumed(app, session)
    assert ended.record.status == "answered"
    assert told(ended) == ["far_a: 7", 'near: {"n":1}', "far_b: from b"]
    assert [name for name, _, _ in ops.calls] == ["near"]


async def test_a_step_asks_the_model_once_or_makes_the_calls_of_a_turn(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo", "echo"), saying("Done.")], "echo"))
        assert [len((await stepped(app, session)).session.turns) for _ in range(3)] == [3, 3, 4]
        assert (await app.sessions.view(session)).record.answer == "Done."


async def test_words_to_a_session_that_waits_for_an_approval_carry_nothing_out(tmp_path: Path) -> None:
    """A18: an ordinary message is no approval."""
    ops, script = ScriptedSource(), [calling("echo"), saying("{{query}} {{results}}")]
    async with opened(ops) as app:
        session = await started(app, agent(tmp_path, script, "echo", rules={"echo": ASK}))
        await resumed(app, session)
        waiting = await resumed(app, session, prompt="Yes, go on.")
        assert (waiting.record.status, ops.calls) == ("waiting", [])
        await delivered(app, tokens(waiting)["echo"], kind="approval")
        ended = await resumed(app, session)
    assert (ended.record.answer, len(ops.calls)) == ("Yes, go on. - echo: {}", 1)


async def test_a_result_for_an_approval_is_refused_and_the_call_still_waits(tmp_path: Path) -> None:
    """A19: an approval cannot be forged through the door for results."""
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [calling("echo"), saying("{{results}}")], "echo", rules={"echo": ASK})
        session = await started(app, snapshot)
        token = tokens(await resumed(app, session))["echo"]
        for kind in ("result", "retry"):
            with pytest.raises(WrongAnswerKind):
                await delivered(app, token, {"ok": 1}, kind=kind)
        with pytest.raises(PersonRequired):
            await delivered(app, token, kind="approval", by_model=True)
        assert (await resumed(app, session)).record.status == "waiting"
        await delivered(app, token, {"type": "text", "content": "No.", "error": True})
        assert told(await resumed(app, session)) == ["echo: No."]


async def test_an_approval_of_a_call_that_waits_for_its_result_is_refused(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo")], "echo", rules={"echo": LATER}))
        token = tokens(await resumed(app, session))["echo"]
        for kind in ("approval", "retry"):
            with pytest.raises(WrongAnswerKind):
                await delivered(app, token, kind=kind)


async def test_the_first_delivery_stays_whatever_comes_later(tmp_path: Path) -> None:
    """A8, B30: a token that is answered, one that is unknown, one of somebody else."""
    async with opened(ScriptedSource()) as app:
        script = [calling("echo"), saying("{{results}}")]
        session = await started(app, agent(tmp_path, script, "echo", rules={"echo": LATER}))
        token = tokens(await resumed(app, session))["echo"]
        await delivered(app, token, "first")
        with pytest.raises(CallAnswered):
            await delivered(app, token, "second")
        with pytest.raises(CallNotFound):
            await delivered(app, "call_" + 26 * "0", "lost")
        with pytest.raises(CallNotFound):
            await app.sessions.deliver(token, result_of("theft"), principal="mallory")
        assert (await resumed(app, session)).record.answer == "- echo: first"
        with pytest.raises(CallAnswered):
            await delivered(app, token, "third")


async def test_a_call_that_nobody_answers_in_time_has_expired_for_ever(tmp_path: Path) -> None:
    """C46."""
    clock = ManualClock(datetime(2026, 11, 30, tzinfo=UTC))
    async with opened(ScriptedSource(), clock=clock) as app:
        brief = LATER | {"expiresSeconds": 60}
        snapshot = agent(tmp_path, [calling("echo"), saying("{{results}}")], "echo", rules={"echo": brief})
        session = await started(app, snapshot)
        token = tokens(await resumed(app, session))["echo"]
        clock.advance(timedelta(seconds=61))
        with pytest.raises(CallExpired):
            await delivered(app, token, "late")
        ended = await resumed(app, session)
        assert ended.record.status == "answered"
        assert told(ended) == ["echo: Nobody answered this call in time; it was given up."]
        with pytest.raises(CallExpired):
            await delivered(app, token, "later")


async def test_a_model_that_fails_leaves_the_session_ready_and_is_asked_again(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [], "echo")
        session = await started(app, snapshot)
        failed = await resumed(app, session)
        assert (failed.record.status, (failed.record.error or {})["code"]) == ("ready", "model_unusable")
        agent(tmp_path, [saying("Here I am.")])
        ended = await resumed(app, session)
    assert (ended.record.status, ended.record.answer, ended.record.error) == ("answered", "Here I am.", None)


async def test_a_session_goes_on_when_the_user_speaks_after_an_answer(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("One."), saying("Two: {{query}}")]))
        assert (await resumed(app, session)).record.answer == "One."
        assert (await resumed(app, session, prompt="More.")).record.answer == "Two: More."


async def test_a_session_is_blocked_while_its_tool_is_gone_and_goes_on_once_it_is_back(tmp_path: Path) -> None:
    """A14: what is missing is named, and what waits goes on waiting."""
    ops = ScriptedSource()
    async with opened(ops) as app:
        script = [calling("echo"), saying("{{results}}")]
        session = await started(app, agent(tmp_path, script, "echo", rules={"echo": LATER}))
        before = await resumed(app, session)
        acts, ops.acts = ops.acts, {"other": ops.acts["echo"]}
        with pytest.raises(SessionBlocked, match=r"ops\.echo"):
            await app.sessions.resume(session)
        assert (await app.sessions.view(session)).pending == before.pending
        ops.acts = acts
        await delivered(app, tokens(before)["echo"], "done")
        assert (await resumed(app, session)).record.answer == "- echo: done"


async def test_calls_to_be_isolated_wait_for_a_runner_and_can_be_completed_by_hand(tmp_path: Path) -> None:
    """C42: nobody here can carry them out, and that is said."""
    async with opened(ScriptedSource()) as app:
        script = [calling("echo"), saying("{{results}}")]
        session = await started(app, agent(tmp_path, script, "echo", rules={"echo": {"tag": "runIsolated"}}))
        waiting = await resumed(app, session)
        assert [call.reason for call in waiting.pending] == ["no runner"]
        with pytest.raises(RunnerMissing):
            await app.sessions.run_isolated(session)
        await delivered(app, tokens(waiting)["echo"], "by hand")
        assert (await resumed(app, session)).record.answer == "- echo: by hand"


async def test_somebody_elses_session_is_not_there(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        for asked in (app.sessions.resume, app.sessions.step, app.sessions.run_isolated, app.sessions.view):
            with pytest.raises(SessionNotFound):
                await asked(session, principal="mallory")


async def test_a_session_that_another_process_advances_is_busy(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("Hello.")]))
        async with await app.stores.sessions.claim(session):
            for asked in (app.sessions.resume, app.sessions.step):
                with pytest.raises(SessionBusy) as refused:
                    await asked(session)
                assert "end the client whose wf-mcp server advances it" in (refused.value.hint or "")
        assert (await resumed(app, session)).record.answer == "Hello."


async def test_the_same_session_resumed_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """Determinism: two processes over two copies of one store make the same events."""
    script = [calling("far", "near", "far"), calling("near"), saying("{{results}}")]
    ops = ScriptedSource(acts=dict.fromkeys(["near", "far"], echo))
    home = tmp_path / "one"
    async with opened(ops, stores=open_stores(f"file://{home}")) as app:
        session = await started(app, agent(tmp_path, script, "near", "far", rules={"far": LATER}))
        for number, call in enumerate((await resumed(app, session)).pending):
            await delivered(app, call.token, {"type": "json", "content": number})
    shutil.copytree(home, tmp_path / "two")
    made: list[list[bytes]] = []
    for name in ("one", "two"):
        async with opened(ops, stores=open_stores(f"file://{tmp_path / name}")) as app:
            assert (await resumed(app, session)).record.status == "answered"
            made.append((await app.stores.sessions.load(session)).events)
    assert made[0] == made[1]


async def test_a_session_created_twice_under_one_id_is_one_session(tmp_path: Path) -> None:
    """Whoever derives the id of a session from its own may ask again after a crash."""
    async with opened() as app:
        snapshot = agent(tmp_path, [saying("Once.")])
        first = await app.sessions.create(snapshot, "Go.", principal=ME)
        again = await app.sessions.create(snapshot, "Go.", principal=ME, session_id=first.session_id)
        assert again.session_id == first.session_id
        with pytest.raises(SessionNotFound):
            await app.sessions.create(snapshot, "Go.", principal="mallory", session_id=first.session_id)


async def test_the_answer_of_a_session_is_told_to_the_one_that_waits_for_it(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        above = agent(tmp_path / "above", [calling("echo"), saying("{{results}}")], "echo", rules={"echo": LATER})
        outer = await started(app, above)
        token = tokens(await resumed(app, outer))["echo"]
        below = agent(tmp_path / "below", [saying("From below.")])
        parent = Parent("session", outer, token)
        inner = (await app.sessions.create(below, "Go.", principal=ME, parent=parent)).session_id
        assert (await resumed(app, inner)).record.answer == "From below."
        told = (await resumed(app, outer)).record.answer
        assert told == f'- echo: {{"answer":"From below.","session_id":"{inner}"}}'


async def test_everyone_hears_of_each_time_that_a_session_is_stored(tmp_path: Path) -> None:
    heard: list[str] = []
    async with opened() as app:
        with app.sessions.changes.heard_by(heard.append):
            session = await started(app, agent(tmp_path, [saying("Hello.")]))
            await resumed(app, session)
    assert len(heard) == 3
    assert set(heard) == {session}


async def in_doubt(folder: Path, stores: Stores, *, script: list[dict[str, Any]] | None = None) -> SessionId:
    """Leave a session in the middle of a call that may not be repeated, as a process does that is gone."""
    gate = Gate()
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app:
        answers = script or [calling("hold"), saying("{{results}}"), saying("So: {{results}}")]
        session = await started(app, agent(folder, answers, "hold"))
        await app.sessions.resume(session)
        await gate.entered.wait()
    return session


async def test_a_session_answers_although_nobody_knows_what_became_of_a_call(tmp_path: Path) -> None:
    """The call still waits for a person's word, and the session goes on when it comes."""
    stores = open_stores("memory://")
    session = await in_doubt(tmp_path, stores)
    async with opened(ScriptedSource(acts={"hold": echo}), stores=stores) as app:
        view = await resumed(app, session)
        assert view.record.status == "answered"
        assert view.record.answer is not None
        assert "may have happened" in view.record.answer
        assert [call.state for call in view.record.pending] == ["in_doubt"]
        again = await resumed(app, session)
        assert again.record == view.record
        await delivered(app, tokens(again)["hold"], "it did")
        last = await resumed(app, session)
    assert (last.record.status, last.record.answer, last.record.pending) == ("answered", "So: - hold: it did", ())


async def test_a_step_takes_the_word_on_a_call_in_doubt_after_the_answer(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    session = await in_doubt(tmp_path, stores)
    ops = ScriptedSource(acts={"hold": echo})
    async with opened(ops, stores=stores) as app:
        view = await resumed(app, session)
        await delivered(app, tokens(view)["hold"], kind="retry")
        while (view := await stepped(app, session)).record.turns < 6:
            assert len(ops.calls) == 1
    assert (view.record.status, told(view), len(ops.calls)) == ("answered", ["notice hold: {}"], 1)


async def test_a_word_that_makes_an_answered_session_go_on_is_kept_while_its_tool_is_gone(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    session = await in_doubt(tmp_path, stores)
    async with opened(ScriptedSource(acts={"hold": echo}), stores=stores) as app:
        token = tokens(await resumed(app, session))["hold"]
    async with opened(ScriptedSource(acts={"other": echo}), stores=stores) as app:
        assert (await resumed(app, session)).record.status == "answered"
        await delivered(app, token, "it did")
        with pytest.raises(SessionBlocked):
            await app.sessions.resume(session)
    async with opened(ScriptedSource(acts={"hold": echo}), stores=stores) as app:
        assert (await resumed(app, session)).record.answer == "So: - hold: it did"


async def test_a_model_that_knows_that_a_call_runs_is_told_when_nobody_knows_any_more(tmp_path: Path) -> None:
    """A1, A2: the process is gone while a call runs in the background; a person's word comes as a further notice."""
    stores, gate = open_stores("memory://"), Gate()
    script = [calling("hold", "echo"), saying("It runs."), *[saying("{{results}}")] * 2]
    snapshot = agent(
        tmp_path,
        script,
        "hold",
        "echo",
        rules={"hold": {"tag": "runAsync"}},
        yield_strategy=YieldStrategy("yieldOnAnyProgress"),
    )
    heard = anyio.Event()
    async with opened(ScriptedSource(acts={"hold": gate, "echo": echo}), stores=stores) as app:
        session = await started(app, snapshot)

        def hear(session_id: str) -> None:
            if len(app.sessions.handle(session).live.held.session.turns) == 4:  # type: ignore[union-attr]
                heard.set()

        with app.sessions.changes.heard_by(hear), anyio.fail_after(5):
            await app.sessions.resume(session)
            await heard.wait()
        waiting = await app.sessions.view(session)
        assert told(waiting)[0].startswith("hold: This call is still running.")
        assert waiting.record.pending[0].state == "running"
    async with opened(ScriptedSource(acts={"hold": echo, "echo": echo}), stores=stores) as app:
        view = await resumed(app, session)
        (doubt,) = told(view)
        assert doubt.startswith("notice hold: Outcome unknown")
        assert (view.record.status, view.record.answer) == ("answered", doubt.replace("notice", "-", 1))
        assert (await resumed(app, session)).record == view.record
        await delivered(app, tokens(view)["hold"], "it did")
        last = await resumed(app, session)
    assert (told(last), last.record.answer) == (["notice hold: it did"], "- hold: it did")
    check_history(last.session.turns[:-1])
