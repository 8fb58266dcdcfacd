"""The policy of an agent holds for the agents that it calls, however deep, and through workflows between them."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.callees.place import Home, asks, calling, deploy, plan, saying
from wf_core.ids import SessionId
from wf_mcp.app import App
from wf_mcp.execution.callees.policies import policies_around
from wf_mcp.operations import calls, sessions
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import PendingItem
from wf_mcp.operations.pending import list_pending
from wf_mcp.operations.session_models import SessionSummary

pytestmark = pytest.mark.anyio

APPROVE = {"tag": "defer", "reason": "a person says so", "approval": True}
AT_ONCE = {"tag": "runSync"}
ELSEWHERE = {"tag": "defer", "reason": "outside"}
COUNTS = calling(("count", {"who": "inner"}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.agent("outer", calling(("inner", {"prompt": "go"})), saying("end"), tools=("agents.inner",))
    return home


def outer(home: Home, called: str, given: dict[str, Any], rules: dict[str, Any] | None = None) -> None:
    """Let an agent call another one or a workflow, and demand an approval of each count."""
    tool = called.rpartition(".")[2]
    rules = {"count": APPROVE} if rules is None else rules
    home.agent("outer", calling((tool, given)), saying("end"), tools=(called,), rules=rules)


async def go(app: App) -> SessionSummary:
    started = await sessions.start_session(app, agent="outer", prompt="go")
    return await sessions.resume_session(app, session_id=started.session_id or "")


async def held(app: App) -> list[PendingItem]:
    """Give the calls of `ops.count` that wait."""
    found = (await list_pending(app, limit=100)).pending
    return [one for one in found if one.call is not None and one.call.name == "count"]


@pytest.mark.parametrize("rules", [None, {"count": AT_ONCE}, {"other": ELSEWHERE}])
async def test_what_an_agent_holds_up_its_sub_agent_does_not_do(home: Home, rules: dict[str, Any] | None) -> None:
    outer(home, "agents.inner", {"prompt": "go"})
    home.agent("inner", COUNTS, saying("in"), tools=("ops.count",), rules=rules)
    async with home.open() as app:
        told = await go(app)
        (call,) = [one.call for one in await held(app)]
        assert home.counted == []
        assert call is not None
        assert (call.awaits, call.reason) == ("approval", "a person says so")
    async with home.open() as app:  # what was pinned holds in any process, and whatever the file says by now
        outer(home, "agents.inner", {"prompt": "go"}, rules={})
        await calls.approve_call(app, token=call.token, caller=LOCAL_PERSON)
        await sessions.resume_session(app, session_id=told.session_id or "")
        await sessions.resume_session(app, session_id=call.session_id or "")
        assert home.counted == ["inner"]


async def test_it_holds_however_deep_and_through_workflows_between_them(home: Home) -> None:
    outer(home, "workflows.via", {})
    home.agent("between", calling(("inner", {"prompt": "go"})), saying("b"), tools=("agents.inner",))
    home.agent("inner", COUNTS, saying("in"), tools=("ops.count",), rules={"count": AT_ONCE})
    async with home.open() as app:
        await deploy(app, "via", plan({"ask": asks("between")}))
        await go(app)
        assert [one.call.awaits for one in await held(app) if one.call is not None] == ["approval"]
        assert home.counted == []


async def test_a_copy_of_a_sub_agents_session_is_held_up_as_that_was(home: Home) -> None:
    outer(home, "agents.inner", {"prompt": "go"})
    twice = (COUNTS, saying("in"), COUNTS, saying("in"))
    home.agent("inner", *twice, tools=("ops.count",))
    async with home.open() as app:
        await go(app)
        (item,) = await held(app)
        copy = (await app.sessions.fork(SessionId(item.session_id or ""))).session_id
        for one in await held(app):
            assert one.call is not None
            await calls.fail_call(app, token=one.call.token, error="no", caller=LOCAL_PERSON)
        await sessions.resume_session(app, session_id=copy)
        await sessions.resume_session(app, session_id=copy, prompt="And now?")
        assert [one.session_id for one in await held(app)] == [copy]
        assert home.counted == []


async def test_demands_that_do_not_go_together_let_nothing_be_done(home: Home) -> None:
    outer(home, "agents.inner", {"prompt": "go"})
    home.agent("inner", COUNTS, saying("{{results}}"), tools=("ops.count",), rules={"count": ELSEWHERE})
    async with home.open() as app:
        told = await go(app)
        assert told.status == "answered"
        (inner,) = [row for row in (await sessions.list_sessions(app)).sessions if row.agent == "inner"]
        shown = await sessions.inspect_session(app, session_id=inner.session_id)
        assert "does not go together" in (shown.answer or "")
        assert (await held(app), home.counted) == ([], [])


async def test_an_agent_that_somebody_asks_himself_goes_by_its_own_policy(home: Home) -> None:
    outer(home, "agents.inner", {"prompt": "go"})
    home.agent("inner", COUNTS, saying("in"), tools=("ops.count",))
    async with home.open() as app:
        started = await sessions.start_session(app, agent="inner", prompt="go")
        assert await policies_around(app.stores, "call_1") == ()
        assert (await sessions.resume_session(app, session_id=started.session_id or "")).answer == "in"
        assert home.counted == ["inner"]
