"""Deleting sessions that ended long ago, with the calls that they once waited for."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.wf_artifacts.calls.samples import continuation
from tests.wf_artifacts.sessions.samples import begin_and_release, new_session_id, session
from tests.wf_mcp.scripted import ask, opened, plan
from wf_artifacts.clock import ManualClock
from wf_artifacts.sessions.models import SessionParent, SessionRecord
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.caller import Caller
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.runs import cancel_run, run_deployment
from wf_mcp.operations.session_pruning import PrunedSessions, prune_sessions

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)
BEGAN = datetime(2026, 11, 30, tzinfo=UTC)


def ended(number: int, parent: SessionParent | None = None, **fields: str | datetime) -> SessionRecord:
    times = {"created_at": BEGAN, "updated_at": BEGAN}
    return session(new_session_id(number, BEGAN), **{"status": "answered", "parent": parent} | times | fields)


def ids(found: PrunedSessions) -> Sequence[str]:
    return sorted(one.session_id for one in found.sessions)


async def left(app: App) -> set[str]:
    return {one.session_id for one in (await app.stores.sessions.list_sessions(principal=None, limit=10)).items}


async def test_only_sessions_of_the_caller_that_ended_before_then_are_deleted() -> None:
    clock = ManualClock(BEGAN + 2 * DAY)
    old, failed = ended(1, principal="alice"), ended(2, principal="alice", status="failed")
    others = ended(3, principal="bob"), ended(4, principal="alice", status="ready")
    recent = ended(5, principal="alice", updated_at=BEGAN + 2 * DAY)
    async with opened(clock=clock) as app:
        await begin_and_release(app.stores.sessions, old, failed, *others, recent)
        alice = Caller(principal="alice")
        would = await prune_sessions(app, older_than=DAY, dry_run=True, caller=alice)
        assert len(await left(app)) == 5
        answered = await prune_sessions(app, older_than=DAY, statuses=["answered"], caller=alice)
        rest = await prune_sessions(app, older_than=DAY, caller=alice)
        assert await left(app) == {one.session_id for one in (*others, recent)}
    assert would.dry_run
    assert would.ended_before == "2026-12-01T00:00:00.000Z"
    assert ids(would) == [old.session_id, failed.session_id]
    assert (ids(answered), ids(rest)) == ([old.session_id], [failed.session_id])


async def test_the_calls_that_it_once_waited_for_go_with_it() -> None:
    gone, kept = ended(1), ended(2, updated_at=BEGAN + DAY)
    async with opened(clock=ManualClock(BEGAN + DAY)) as app:
        await begin_and_release(app.stores.sessions, gone, kept)
        for number, one in enumerate((gone, kept)):
            await app.stores.continuations.put(continuation(number, session_id=one.session_id))
        for dry_run in (True, False):
            assert ids(await prune_sessions(app, older_than=timedelta(hours=1), dry_run=dry_run)) == [gone.session_id]
            waiting = await app.stores.continuations.of_session(gone.session_id, now=BEGAN)
            assert len(waiting) == dry_run
        assert len(await app.stores.continuations.of_session(kept.session_id, now=BEGAN)) == 1


async def test_what_an_open_run_may_ask_for_stays_until_the_run_has_ended() -> None:
    """Also where the run is not seen to wait: one that was cut off makes its calls again."""
    async with opened(clock=ManualClock(BEGAN + 2 * DAY)) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"ask": ask()}))
        await create_deployment(app, deployment_id="flow", artifact_id="flow")
        run_id = str((await run_deployment(app, deployment_id="flow")).run_id)
        called = ended(1, SessionParent(kind="run", id=run_id))
        await begin_and_release(app.stores.sessions, called)
        assert ids(await prune_sessions(app, older_than=DAY)) == []
        assert await left(app) == {called.session_id}
        await cancel_run(app, run_id=run_id)
        assert ids(await prune_sessions(app, older_than=DAY)) == [called.session_id]


async def test_what_another_session_may_ask_for_stays_until_that_has_ended() -> None:
    async with opened(clock=ManualClock(BEGAN + 2 * DAY)) as app:
        outer = ended(1, status="waiting")
        called = ended(2, SessionParent(kind="session", id=outer.session_id))
        orphan = ended(3, SessionParent(kind="session", id=new_session_id(9)))
        await begin_and_release(app.stores.sessions, outer, called, orphan)
        assert ids(await prune_sessions(app, older_than=DAY)) == [orphan.session_id]
        async with await app.stores.sessions.claim(outer.session_id) as claim:
            await app.stores.sessions.store(claim, ended(1))
        assert ids(await prune_sessions(app, older_than=DAY)) == [outer.session_id, called.session_id]


async def test_a_session_that_can_go_on_cannot_be_asked_for() -> None:
    async with opened() as app:
        with pytest.raises(InvalidArgument, match="A session that is waiting has not ended"):
            await prune_sessions(app, older_than=DAY, statuses=["waiting", "failed"])


async def test_a_time_before_all_dates_is_refused() -> None:
    async with opened() as app:
        with pytest.raises(InvalidArgument, match="longer ago than there are dates"):
            await prune_sessions(app, older_than=timedelta(days=999_999_999))
