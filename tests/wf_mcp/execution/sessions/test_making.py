"""One call of a session: what is asked, and what is kept of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import ME, agent, calling, saying, started, stepped, tool
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_core.calls.policy import Decorate, Defer, Disposition, RunAsync, RunIsolated, RunSync, WithLabel
from wf_core.sessions import Parent, open_calls
from wf_mcp.app import App
from wf_mcp.execution.calls.protocol import CallYield
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.loading import Sessions
from wf_mcp.execution.sessions.making import continuation_of, is_put_off, key_of, may_defer, request_of, runner_of

pytestmark = pytest.mark.anyio

KEPT: dict[str, Any] = {
    "tag": "decorate",
    "decorators": [{"tag": "withCacheKey"}],
    "inner": {"tag": "defer", "reason": "external worker"},
}


async def asking(app: App, folder: Path, **fields: Any) -> HeldSession:
    """Hold a session whose model asks for a call."""
    snapshot = agent(folder, [calling(("echo", {"n": 1})), saying("Done.")], "echo", **fields)
    session = await started(app, snapshot)
    await stepped(app, session)
    return (await Sessions(app.sessions.means).hold(session))[0]


async def test_a_call_is_asked_for_with_its_place_and_kept_with_everything_that_it_takes_to_go_on(
    tmp_path: Path,
) -> None:
    async with opened(ScriptedSource()) as app:
        held = await asking(app, tmp_path, rules={"echo": KEPT})
        (call,) = open_calls(held.session)
        request = request_of(held.session, call)
        assert request.idempotency_key == f"{held.session_id}:t2.0"
        assert (request.context.turn_id, request.context.call_stack) == ("t2", ("helper",))
        assert (request.context.conversation_id, request.context.allowed_tools) == (held.session_id, ("echo",))
        kept = continuation_of(held, call, "deferred", CallYield(request.token, expires_seconds=5, reason="later"))
    assert (kept.token, kept.session_id, kept.call_id, kept.principal) == (
        request.token,
        held.session_id,
        "t2.0",
        ME,
    )
    assert (kept.capability, kept.arguments, kept.rule, kept.reason) == ("ops.echo", {"n": 1}, "echo", "later")
    assert kept.cache_key == key_of(held, call) is not None
    assert kept.expires_at is not None
    assert (kept.expires_at - kept.created_at).seconds == 5
    assert kept.disposition["inner"]["tag"] == "defer"


async def test_a_call_of_a_session_that_somebody_waits_for_names_them(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [calling("echo")], "echo")
        made = await app.sessions.create(snapshot, "Go.", principal=ME, parent=Parent("run", "run_1", "call_1"))
        await stepped(app, made.session_id)
        held, _ = await Sessions(app.sessions.means).hold(made.session_id)
        (call,) = open_calls(held.session)
        context = request_of(held.session, call).context
    assert (context.parent, context.conversation_id) == ("run_1", "run_1")


@pytest.mark.parametrize(
    ("disposition", "put_off"),
    [
        (RunSync(), False),
        (RunAsync(), False),
        (Defer("later"), True),
        (RunIsolated(), True),
        (Decorate((WithLabel("careful"),), Defer("later")), True),
        (Decorate((WithLabel("careful"),), RunSync()), False),
    ],
)
def test_what_is_deferred_or_isolated_is_put_off(disposition: Disposition, *, put_off: bool) -> None:
    assert is_put_off(disposition) == put_off


async def test_only_agents_and_workflows_may_put_a_call_off_themselves(tmp_path: Path) -> None:
    sources = [ScriptedSource(), ScriptedSource("agents", kind="agents")]
    async with opened(*sources) as app:
        elsewhere = replace(tool("echo", source="agents"), name="agents_echo")
        session = await started(app, agent(tmp_path, [calling("echo", "agents_echo")], "echo", elsewhere))
        await stepped(app, session)
        held, _ = await Sessions(app.sessions.means).hold(session)
        assert [may_defer(held.means, held.session, call) for call in open_calls(held.session)] == [False, True]
        assert [runner_of(held.means, held.session, call) for call in open_calls(held.session)] == [None, None]


async def test_why_a_call_waits_is_kept_in_whole_characters(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo")], "echo"))
        await stepped(app, session)
        held, _ = await Sessions(app.sessions.means).hold(session)
        (call,) = open_calls(held.session)
        kept = continuation_of(held, call, "callee", CallYield("call_1", reason="it said \ud800"))
        assert kept.reason == "it said ?"
