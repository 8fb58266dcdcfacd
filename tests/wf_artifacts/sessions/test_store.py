"""What `sessions.store` promises, held against every backend."""

from typing import Any

import anyio
import pytest

from tests.wf_artifacts.samples import LATER
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import InvalidCursor, SessionBusy, SessionClaimLost, SessionExists, SessionNotFound
from wf_artifacts.sessions.models import SessionRecord, StoredSession
from wf_artifacts.sessions.store import SessionClaim, SessionStore
from wf_artifacts.stores import open_stores
from wf_core.errors import NotJson
from wf_core.ids import SessionId

pytestmark = pytest.mark.anyio

WHOLE: dict[str, Any] = {
    "status": "waiting",
    "answer": "a\u0000b \U0001f600",
    "error": {"code": "model_unavailable", "message": "", "odd": [2**64, -(10**400), 0.1 + 0.2, -0.0, None]},
    "turns": 3,
    "auto": True,
    "pending": (
        {"call_id": "t2.0", "name": "fetch", "capability": "web.fetch", "state": "deferred", "token": "call_1"},
        {"call_id": "t2.1", "name": "no such tool", "state": "ready"},
    ),
    "parent": {"kind": "run", "id": "run_1"},
    "updated_at": LATER,
}


class TestCreating:
    async def test_a_new_session_is_stored_whole(self, sessions: SessionStore) -> None:
        begun = session(position=2, **WHOLE)
        await (await sessions.create(begun, HEADER, events(2))).release()
        assert await sessions.load(begun.session_id) == StoredSession(begun, HEADER, events(2))
        assert await sessions.load_record(begun.session_id) == begun
        assert repr(await sessions.load_record(begun.session_id)) == repr(begun)

    async def test_a_session_may_begin_without_events(self, sessions: SessionStore) -> None:
        begun = session()
        async with await sessions.create(begun, b""):
            assert await sessions.load(begun.session_id) == StoredSession(begun, b"", [])

    async def test_a_new_session_is_claimed_from_its_first_instant(self, sessions: SessionStore) -> None:
        begun = session()
        async with await sessions.create(begun, HEADER) as claim:
            assert claim.session_id == begun.session_id
            with pytest.raises(SessionBusy):
                await sessions.claim(begun.session_id)

    async def test_an_id_that_is_taken_is_refused_and_the_session_left_as_it_is(self, sessions: SessionStore) -> None:
        begun = session()
        async with await sessions.create(begun, HEADER) as claim:
            with pytest.raises(SessionExists) as refused:
                await sessions.create(session(agent="other"), b"{}")
            assert refused.value.code == "session_exists"
            await sessions.store(claim, moved(begun), events())
        with pytest.raises(SessionExists):
            await sessions.create(begun, HEADER)
        assert await sessions.load(begun.session_id) == StoredSession(moved(begun), HEADER, events())

    async def test_of_many_creations_with_one_id_one_creates(self, sessions: SessionStore) -> None:
        made: list[SessionClaim] = []

        async def create() -> None:
            try:
                made.append(await sessions.create(session(), HEADER, ()))
            except SessionExists:
                return

        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(create)
        (claim,) = made
        await claim.release()
        assert (await sessions.list_sessions(principal=None, limit=9)).items == (session(),)

    @pytest.mark.parametrize(
        ("position", "given"), [(1, []), (0, events()), (1, [b"{\n}"]), (1, [b"[]"]), (1, [b""]), (1, [b"{}\n"])]
    )
    async def test_events_that_do_not_fit_create_nothing(
        self, sessions: SessionStore, position: int, given: list[bytes]
    ) -> None:
        with pytest.raises(ValueError, match="event"):
            await sessions.create(session(position=position), HEADER, given)
        assert (await sessions.list_sessions(principal=None, limit=9)).items == ()

    async def test_a_value_that_is_no_json_creates_nothing(self, sessions: SessionStore) -> None:
        with pytest.raises(NotJson, match="NaN"):
            await sessions.create(session(error={"x": float("nan")}), HEADER)
        await begin_and_release(sessions, session())


class TestClaiming:
    async def test_a_released_session_can_be_claimed_again(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun)
        for _ in range(2):
            async with await sessions.claim(begun.session_id) as claim:
                assert claim.session_id == begun.session_id
                with pytest.raises(SessionBusy) as refused:
                    await sessions.claim(begun.session_id)
                assert refused.value.code == "session_busy"

    async def test_looking_whether_a_session_is_claimed_takes_no_claim(self, sessions: SessionStore) -> None:
        begun = session()
        claim = await sessions.create(begun, HEADER)
        assert await sessions.is_claimed(begun.session_id)
        await claim.release()
        assert not await sessions.is_claimed(begun.session_id)
        assert not await sessions.is_claimed(begun.session_id)

    async def test_of_many_claims_at_once_one_holds(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun)
        held: list[SessionClaim] = []
        refused: list[SessionBusy] = []

        async def claim() -> None:
            try:
                held.append(await sessions.claim(begun.session_id))
            except SessionBusy as error:
                refused.append(error)

        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(claim)
        assert (len(held), len(refused)) == (1, 11)
        await held[0].release()

    async def test_releasing_twice_leaves_the_next_claim_alone(self, sessions: SessionStore) -> None:
        begun = session()
        first = await sessions.create(begun, HEADER)
        await first.release()
        async with await sessions.claim(begun.session_id):
            await first.release()
            assert await sessions.is_claimed(begun.session_id)

    async def test_a_cancelled_task_still_releases(self, sessions: SessionStore) -> None:
        begun = session()
        claim = await sessions.create(begun, HEADER)
        with anyio.CancelScope() as scope:
            async with claim:
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        assert not await sessions.is_claimed(begun.session_id)


class TestStoring:
    @pytest.mark.parametrize("sync", [True, False])
    async def test_record_and_events_change_together(self, sessions: SessionStore, sync: bool) -> None:
        begun = session(position=1)
        async with await sessions.create(begun, HEADER, events()) as claim:
            second = moved(begun, 2, **WHOLE)
            await sessions.store(claim, second, events(2, since=1), sync=sync)
            assert await sessions.load(begun.session_id) == StoredSession(second, HEADER, events(3))
            third = moved(second, 1, status="answered", pending=())
            await sessions.store(claim, third, events(1, since=3), sync=sync)
        assert await sessions.load(begun.session_id) == StoredSession(third, HEADER, events(4))

    async def test_a_record_may_change_without_events(self, sessions: SessionStore) -> None:
        begun = session(position=1)
        async with await sessions.create(begun, HEADER, events()) as claim:
            await sessions.store(claim, moved(begun, 0, status="running"))
        assert await sessions.load(begun.session_id) == StoredSession(
            moved(begun, 0, status="running"), HEADER, events()
        )

    async def test_the_next_holder_goes_on_where_the_events_end(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun, given=events(3))
        async with await sessions.claim(begun.session_id) as claim:
            earlier = await sessions.load_record(begun.session_id)
            await sessions.store(claim, moved(earlier, 2), events(2, since=3))
        async with await sessions.claim(begun.session_id) as claim:
            await sessions.store(claim, moved(earlier, 3), events(1, since=5))
        assert (await sessions.load(begun.session_id)).events == events(6)

    async def test_what_does_not_follow_is_refused_and_changes_nothing(self, sessions: SessionStore) -> None:
        begun = session(position=2)
        async with await sessions.create(begun, HEADER, events(2)) as claim:
            wrong: list[tuple[SessionRecord, list[bytes]]] = [
                (begun, events()),
                (moved(begun), []),
                (moved(begun, 2), events()),
                (moved(begun, -1), []),
                (moved(begun), [b"{\n}"]),
                (moved(begun), [b"null"]),
                (moved(begun, session_id=new_session_id(9)), events()),
                (moved(begun, principal="other"), events()),
            ]
            for record, given in wrong:
                with pytest.raises(ValueError, match=r"event|cannot follow"):
                    await sessions.store(claim, record, given)
            with pytest.raises(NotJson):
                await sessions.store(claim, moved(begun, error={"x": b""}), events())
            assert await sessions.load(begun.session_id) == StoredSession(begun, HEADER, events(2))
            await sessions.store(claim, moved(begun), events(since=2))
        assert (await sessions.load(begun.session_id)).events == events(3)

    async def test_what_is_changed_afterwards_changes_nothing_stored(self, sessions: SessionStore) -> None:
        error: dict[str, Any] = {"items": [1]}
        begun = session(error=error)
        given = events()
        async with await sessions.create(moved(begun), HEADER, given):
            error["items"].append(2)
            given.clear()
            loaded = await sessions.load(begun.session_id)
            loaded.events.append(b"{}")
            (loaded.record.error or {})["items"].append(3)
            again = await sessions.load(begun.session_id)
            assert (again.record.error, again.events) == ({"items": [1]}, events())

    async def test_a_claim_that_ended_writes_nothing(self, sessions: SessionStore) -> None:
        begun = session()
        old = await sessions.create(begun, HEADER)
        await old.release()
        with pytest.raises(SessionClaimLost) as refused:
            await sessions.store(old, moved(begun), events())
        assert refused.value.code == "session_busy"
        async with await sessions.claim(begun.session_id):
            with pytest.raises(SessionClaimLost):
                await sessions.store(old, moved(begun), events())
        assert await sessions.load(begun.session_id) == StoredSession(begun, HEADER, [])

    async def test_a_claim_of_another_store_writes_nothing(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun)
        async with await open_stores("memory://").sessions.create(begun, HEADER) as foreign:
            with pytest.raises(SessionClaimLost):
                await sessions.store(foreign, moved(begun), events())
        assert (await sessions.load(begun.session_id)).events == []

    async def test_large_events_come_back(self, sessions: SessionStore) -> None:
        big = b'{"content":"%b"}' % (b"x" * 3_000_000)
        begun = session()
        async with await sessions.create(begun, HEADER) as claim:
            await sessions.store(claim, moved(begun), [big])
        assert (await sessions.load(begun.session_id)).events == [big]

    async def test_events_are_not_looked_into(self, sessions: SessionStore) -> None:
        odd = [b"{no json}", b'{"\xff\xfe\x00":\r}', b"{}"]
        begun = session()
        async with await sessions.create(begun, b"\x00\xff\n", ()) as claim:
            await sessions.store(claim, moved(begun, 3), odd)
        assert await sessions.load(begun.session_id) == StoredSession(moved(begun, 3), b"\x00\xff\n", odd)


class TestReading:
    @pytest.mark.parametrize("method", ["load", "load_record", "claim", "is_claimed", "delete"])
    @pytest.mark.parametrize("text", ["", "..", "../x", "a/b", "x" * 300, "\x00", ".lock", "sess_1"])
    async def test_what_there_is_not_is_not_found(self, sessions: SessionStore, method: str, text: str) -> None:
        with pytest.raises(SessionNotFound) as missing:
            await getattr(sessions, method)(SessionId(text))
        assert (missing.value.code, missing.value.close) == ("session_not_found", ())
        await begin_and_release(sessions, session())
        with pytest.raises(SessionNotFound):
            await getattr(sessions, method)(SessionId(text))

    async def test_a_mistyped_id_names_close_ones(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun)
        for method in (sessions.load, sessions.load_record, sessions.claim, sessions.is_claimed, sessions.delete):
            with pytest.raises(SessionNotFound) as missing:
                await method(SessionId(begun.session_id[:-1]))
            assert missing.value.close == (begun.session_id,)

    async def test_sessions_of_others_do_not_exist(self, sessions: SessionStore) -> None:
        mine, other = session(new_session_id(1)), session(new_session_id(2), principal="other")
        await begin_and_release(sessions, mine, other)
        for load in (sessions.load, sessions.load_record):
            with pytest.raises(SessionNotFound) as missing:
                await load(other.session_id, principal="local")
            assert missing.value.close == (mine.session_id,)
        assert await sessions.load_record(other.session_id, principal="other") == other
        assert (await sessions.load(other.session_id)).record == other

    @pytest.mark.parametrize("principal", ["", "a/b", "a\u0000b", "\U0001f600", "x" * 5000])
    async def test_any_text_is_a_principal(self, sessions: SessionStore, principal: str) -> None:
        begun = session(principal=principal)
        await begin_and_release(sessions, begun)
        assert (await sessions.list_sessions(principal=principal, limit=2)).items == (begun,)
        assert await sessions.load_record(begun.session_id, principal=principal) == begun


class TestListing:
    async def test_the_newest_come_first_and_filters_hold(self, sessions: SessionStore) -> None:
        kinds = [
            {"principal": principal, "status": status}
            for principal in ("local", "other")
            for status in ("ready", "waiting", "answered")
        ]
        kept = [session(new_session_id(number), **kind) for number, kind in enumerate(kinds)]
        await begin_and_release(sessions, *kept)
        for principal in (None, "local", "other", "nobody"):
            for status in (None, "ready", "waiting", "answered", "failed"):
                page = await sessions.list_sessions(principal=principal, status=status, limit=10)
                expected = [
                    one for one in reversed(kept) if principal in {None, one.principal} and status in {None, one.status}
                ]
                assert list(page.items) == expected
                assert (page.next_cursor, page.damaged) == (None, ())

    async def test_pages_meet_500_sessions_of_one_instant_once_while_others_come_and_go(
        self, sessions: SessionStore
    ) -> None:
        stay = [session(new_session_id(2 * number)) for number in range(250)]
        go = [session(new_session_id(2 * number + 1)) for number in range(250)]
        await begin_and_release(sessions, *stay, *go)
        met: list[SessionId] = []
        cursor: str | None = None
        for page_number in range(100):
            page = await sessions.list_sessions(principal="local", cursor=cursor, limit=37)
            met += [one.session_id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
            for one in go[20 * page_number :][:20]:
                await sessions.delete(one.session_id)
            await begin_and_release(sessions, session(new_session_id(1000 + page_number)))
        assert cursor is None
        assert met == sorted(set(met), reverse=True)
        assert {one.session_id for one in stay} <= set(met)

    async def test_a_page_that_is_just_full_is_the_last(self, sessions: SessionStore) -> None:
        await begin_and_release(sessions, *(session(new_session_id(number)) for number in range(4)))
        first = await sessions.list_sessions(principal=None, limit=2)
        assert first.next_cursor is not None
        second = await sessions.list_sessions(principal=None, limit=2, cursor=first.next_cursor)
        assert len(second.items) == 2
        assert second.next_cursor is None

    @pytest.mark.parametrize("cursor", ["", "x", "c2Vzc2lvbnM6", "cnVuczpydW5fMQ"])
    async def test_a_cursor_of_nowhere_is_refused(self, sessions: SessionStore, cursor: str) -> None:
        with pytest.raises(InvalidCursor):
            await sessions.list_sessions(principal=None, cursor=cursor, limit=2)

    async def test_abandoned_are_those_that_run_and_nobody_holds(self, sessions: SessionStore) -> None:
        kept = [session(new_session_id(number), status="running") for number in range(3)]
        await begin_and_release(sessions, *kept, session(new_session_id(9), status="waiting"))
        async with await sessions.claim(kept[1].session_id):
            assert await sessions.abandoned() == [kept[2].session_id, kept[0].session_id]
        assert len(await sessions.abandoned()) == 3


class TestDeleting:
    async def test_a_deleted_session_is_gone_and_its_id_is_free(self, sessions: SessionStore) -> None:
        begun = session()
        await begin_and_release(sessions, begun, given=events(3))
        await sessions.delete(begun.session_id)
        for method in (sessions.load, sessions.claim, sessions.delete):
            with pytest.raises(SessionNotFound):
                await method(begun.session_id)
        assert (await sessions.list_sessions(principal=None, limit=2)).items == ()
        await begin_and_release(sessions, begun)
        assert (await sessions.load(begun.session_id)).events == []

    async def test_a_session_that_somebody_holds_is_not_deleted(self, sessions: SessionStore) -> None:
        begun = session(position=1)
        async with await sessions.create(begun, HEADER, events()) as claim:
            with pytest.raises(SessionBusy):
                await sessions.delete(begun.session_id)
            await sessions.store(claim, moved(begun), events(since=1))
        assert (await sessions.load(begun.session_id)).events == events(2)

    async def test_a_session_is_deleted_as_it_was_found_or_not_at_all(self, sessions: SessionStore) -> None:
        found = session(status="answered", position=1)
        await begin_and_release(sessions, found, given=events())
        async with await sessions.claim(found.session_id) as claim:
            await sessions.store(claim, moved(found, status="waiting"), events(since=1))
        with pytest.raises(SessionBusy):
            await sessions.delete(found.session_id, found=found)
        stored = await sessions.load(found.session_id)
        assert (stored.record.status, stored.events) == ("waiting", events(2))
        await (await sessions.claim(found.session_id)).release()
        await sessions.delete(found.session_id, found=stored.record)
        with pytest.raises(SessionNotFound):
            await sessions.load(found.session_id)
