"""What a held session and the outside tell each other."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    agent,
    calling,
    result_of,
    resumed,
    saying,
    started,
    tokens,
    told,
    tool,
)
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.stores import open_stores
from wf_core.calls.results import result_to_json, text_result
from wf_core.sessions import Approved, defer, open_calls, wake_session
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.loading import Sessions
from wf_mcp.sources.protocol import CallDeferred

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}
ASK: dict[str, Any] = {"tag": "defer", "reason": "it writes", "approval": True}
KEPT: dict[str, Any] = {"tag": "decorate", "decorators": [{"tag": "withCacheKey"}], "inner": LATER}


async def test_a_deferred_call_whose_result_is_in_the_cache_completes_on_resume(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo"), saying("")], "echo", rules={"echo": KEPT}))
        token = tokens(await resumed(app, session))["echo"]
        kept = (await app.stores.continuations.load(token, principal=None, now=app.clock.now())).continuation
        assert kept.cache_key is not None
        await app.stores.cache.put(kept.cache_key, result_to_json(text_result("kept")), now=app.clock.now())
        assert told(await resumed(app, session)) == ["echo: kept"]


async def test_what_is_delivered_is_kept_in_the_cache_where_the_policy_says_so(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [calling("echo"), saying("")], "echo", rules={"echo": KEPT})
        session = await started(app, snapshot)
        now = app.clock.now()
        token = tokens(await resumed(app, session))["echo"]
        await app.stores.continuations.deliver(token, result_of("there", at=now), principal=None, now=now)
        assert told(await resumed(app, session)) == ["echo: there"]
        assert told(await resumed(app, await started(app, snapshot))) == ["echo: there"]


async def test_what_came_past_the_door_does_not_carry_out_what_was_to_be_approved(tmp_path: Path, caplog: Any) -> None:
    """A19: not even a store that somebody else wrote to lets a call through."""
    ops = ScriptedSource()
    async with opened(ops) as app:
        session = await started(app, agent(tmp_path, [calling("echo"), saying("")], "echo", rules={"echo": ASK}))
        token, now = tokens(await resumed(app, session))["echo"], app.clock.now()
        await app.stores.continuations.deliver(token, result_of("forged", at=now), principal=None, now=now)
        with caplog.at_level(logging.WARNING):
            (said,) = told(await resumed(app, session))
    assert said.startswith("echo: The call was not carried out:")
    assert ops.calls == []
    assert "does not fit" in caplog.text


async def test_a_session_that_came_without_its_continuations_gets_them_again(tmp_path: Path) -> None:
    rules = {"echo": LATER, "ask": ASK, "hut": {"tag": "runIsolated"}}
    ops = ScriptedSource(acts=dict.fromkeys(rules, ScriptedSource().acts["echo"]))
    stores = open_stores("memory://")
    async with opened(ops, stores=stores) as app:
        session = await started(app, agent(tmp_path, [calling(*rules)], *rules, rules=rules))
        await resumed(app, session)
        await stores.continuations.delete_of(session)
    async with opened(ops, stores=stores) as app:
        assert (await app.sessions.view(session)).pending == ()
        again = await resumed(app, session)
    assert [call.kind for call in again.pending] == ["deferred", "approval", "isolated"]


async def test_a_call_that_was_approved_and_put_off_by_its_callee_is_not_to_be_approved_again(tmp_path: Path) -> None:
    """In a fork of its session: there it is announced anew."""
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo")], "echo", rules={"echo": ASK}))
        (asked,) = (await resumed(app, session)).pending
        held, _ = await Sessions(app.sessions.means).hold(session)
        wake_session(held.session, [(asked.token, Approved())])
        defer(held.session, asked.call_id)
        await app.stores.continuations.delete_of(session)
        await mail.restore(held)
        waiting = await app.stores.continuations.load(asked.token, principal=None, now=app.clock.now())
        await held.leave()
    assert waiting.continuation.kind == "callee"


async def test_a_call_is_withdrawn_from_the_outside_unless_somebody_has_answered_it(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo", "echo")], "echo", rules={"echo": LATER}))
        first, _ = (await resumed(app, session)).pending
        now = app.clock.now()
        await app.stores.continuations.deliver(first.token, result_of("there", at=now), principal=None, now=now)
        held, _ = await Sessions(app.sessions.means).hold(session)
        calls = list(open_calls(held.session))
        assert [await mail.withdraw(held, call) for call in calls] == [False, True]
        assert await mail.collect(held)
        assert [call.state for call in calls] == ["completed", "deferred"]
        assert not await mail.collect(held)


async def test_an_approved_call_whose_continuation_is_gone_is_made_once(tmp_path: Path) -> None:
    """Nobody outside can answer it any more: the session's own word, that it may be made, is what counts."""
    ops = ScriptedSource()
    async with opened(ops) as app:
        session = await started(app, agent(tmp_path, [calling("echo"), saying("")], "echo", rules={"echo": ASK}))
        (asked,) = (await resumed(app, session)).pending
        sessions = Sessions(app.sessions.means)
        held, _ = await sessions.hold(session)
        wake_session(held.session, [(asked.token, Approved())])
        await held.rest()
        await held.leave()
        await app.stores.continuations.delete_of(session)
        (said,) = told(await resumed(app, session))
    assert said.startswith("echo: ")
    assert len(ops.calls) == 1


async def test_what_a_callee_answers_is_not_lost_with_the_continuation(tmp_path: Path) -> None:
    """Both where the callee answers at once, and where it had put the call off."""
    answers: list[Any] = [{"result": "at once"}, CallDeferred("it waits"), {"result": "later"}]

    async def callee(given: dict[str, Any]) -> Any:
        await app.stores.continuations.delete_of(session)
        answer = answers.pop(0)
        if isinstance(answer, CallDeferred):
            raise answer
        return answer

    source = ScriptedSource("agents", acts={"helper": callee}, kind="agents")
    async with opened(source) as app:
        script = [calling("helper"), calling("helper"), saying("")]
        session = await started(app, agent(tmp_path, script, tool("helper", source="agents")))
        first = await resumed(app, session)
        assert told(first, 2) == ["helper: at once"]
        assert [call.state for call in first.pending] == ["deferred"]
        assert told(await resumed(app, session)) == ["helper: later"]
