"""Only sessions that ended, and ended long enough ago, are pruned, on every backend."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_artifacts.samples import LATER, NOW
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.sessions.models import SessionRecord, SessionStatus
from wf_artifacts.sessions.prune import prune
from wf_artifacts.sessions.rules import ENDED
from wf_artifacts.sessions.store import SessionStore
from wf_core.ids import SessionId

pytestmark = pytest.mark.anyio

STATUSES: tuple[SessionStatus, ...] = ("ready", "running", "waiting", "answered", "failed")
CALL = {"call_id": "t1.0", "name": "fetch", "state": "deferred", "token": "call_1"}


async def nobody_wants(record: SessionRecord) -> bool:
    return False


async def pruned(sessions: SessionStore, **asked: Any) -> set[SessionId]:
    everything: dict[str, Any] = {"principal": None, "before": LATER, "is_wanted": nobody_wants}
    return {one.session_id async for one in prune(sessions, **everything | asked)}


async def listed(sessions: SessionStore) -> set[SessionId]:
    return {one.session_id for one in (await sessions.list_sessions(principal=None, limit=1000)).items}


async def test_sessions_that_ended_before_are_deleted_and_given(sessions: SessionStore) -> None:
    ids = {status: new_session_id(number) for number, status in enumerate(STATUSES)}
    await begin_and_release(sessions, *(session(one, status=status) for status, one in ids.items()))
    assert await pruned(sessions) == {ids[status] for status in ENDED}
    assert await listed(sessions) == {ids["ready"], ids["running"], ids["waiting"]}


async def test_one_that_has_not_ended_cannot_be_asked_for(sessions: SessionStore) -> None:
    await begin_and_release(sessions, session(status="waiting"))
    with pytest.raises(ValueError, match="answered, failed sessions have ended"):
        await pruned(sessions, statuses={"failed", "waiting"})
    assert await listed(sessions) == {new_session_id()}


@pytest.mark.parametrize("status", sorted(ENDED))
async def test_one_that_still_waits_for_a_call_is_left(sessions: SessionStore, status: SessionStatus) -> None:
    """A model may answer while results are missing; they come as a notice."""
    await begin_and_release(sessions, session(status=status, pending=(CALL,)))
    assert await pruned(sessions) == set()
    assert await listed(sessions) == {new_session_id()}


async def test_one_that_is_wanted_is_left(sessions: SessionStore) -> None:
    first, second = session(new_session_id(1), status="failed"), session(new_session_id(2), status="answered")
    await begin_and_release(sessions, first, second)

    async def is_wanted(record: SessionRecord) -> bool:
        return record == first

    for dry_run in (True, False):
        assert await pruned(sessions, is_wanted=is_wanted, dry_run=dry_run) == {second.session_id}
    assert await listed(sessions) == {first.session_id}


async def test_one_that_somebody_holds_is_left_to_them(sessions: SessionStore) -> None:
    claim = await sessions.create(session(status="answered"), HEADER)
    for dry_run in (True, False):
        assert await pruned(sessions, dry_run=dry_run) == set()
    await claim.release()
    assert await pruned(sessions) == {new_session_id()}


async def test_one_that_goes_on_after_it_was_found_is_left(sessions: SessionStore) -> None:
    """Its user said more meanwhile, and it waits for a call by now."""
    found = session(status="answered", position=1)
    await begin_and_release(sessions, found, given=events(1))

    async def go_on(record: SessionRecord) -> bool:
        async with await sessions.claim(record.session_id) as claim:
            await sessions.store(claim, moved(record, status="waiting", pending=(CALL,)), events(since=1))
        return False

    assert await pruned(sessions, is_wanted=go_on) == set()
    assert (await sessions.load(found.session_id)).events == events(2)


async def test_what_counts_is_when_a_session_ended(sessions: SessionStore) -> None:
    ended = {new_session_id(number): NOW + timedelta(minutes=number) for number in range(4)}
    await begin_and_release(
        sessions, *(session(one, status="answered", updated_at=moment) for one, moment in ended.items())
    )
    assert await pruned(sessions, before=NOW + timedelta(minutes=2)) == {new_session_id(0), new_session_id(1)}
    assert await listed(sessions) == {new_session_id(2), new_session_id(3)}


async def test_only_what_is_asked_for(sessions: SessionStore) -> None:
    kinds = [{"status": "failed"}, {"status": "answered"}, {"status": "failed", "principal": "other"}]
    await begin_and_release(sessions, *(session(new_session_id(number), **kind) for number, kind in enumerate(kinds)))
    assert await pruned(sessions, principal="local", statuses={"failed"}) == {new_session_id(0)}
    assert await listed(sessions) == {new_session_id(1), new_session_id(2)}


async def test_a_dry_run_deletes_nothing(sessions: SessionStore) -> None:
    await begin_and_release(sessions, session(status="answered"))
    assert await pruned(sessions, dry_run=True) == {new_session_id()}
    assert await listed(sessions) == {new_session_id()}
    assert await pruned(sessions) == {new_session_id()}


async def test_more_than_a_page_is_pruned(sessions: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wf_artifacts.sessions.prune._PAGE", 2)
    await begin_and_release(sessions, *(session(new_session_id(number), status="failed") for number in range(7)))
    assert len(await pruned(sessions)) == 7
    assert await listed(sessions) == set()
