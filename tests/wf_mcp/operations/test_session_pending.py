"""The calls of sessions that wait for the outside."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.wf_mcp.desk import APPROVE, DEFER, asks, desk, tokens, waiting
from wf_artifacts.calls.models import Continuation
from wf_artifacts.errors import InvalidCursor, SessionNotFound
from wf_mcp.operations.caller import LOCAL_MODEL
from wf_mcp.operations.calls import complete_call
from wf_mcp.operations.session_pending import calls_of_session, calls_of_sessions

pytestmark = pytest.mark.anyio


async def test_the_calls_of_one_session_come_in_call_order_however_many_there_are(tmp_path: Path) -> None:
    many = [("remote_a", {"topic": str(number)}) for number in range(12)]
    async with desk(tmp_path, [asks(*many)]).open() as app:
        told = await waiting(app)
        assert told.session_id is not None
        met: list[str] = []
        after: str | None = None
        while True:
            page, after = await calls_of_session(app, told.session_id, after=after, limit=5, caller=LOCAL_MODEL)
            met += [str(item.call.arguments["topic"]) for item in page if item.call]
            if after is None:
                break
    assert met == [str(number) for number in range(12)]


async def test_an_answer_between_two_pages_neither_skips_nor_repeats_a_call(tmp_path: Path) -> None:
    async with desk(tmp_path, [asks("remote_a", "remote_b", "remote_a")]).open() as app:
        told = await waiting(app)
        assert told.session_id is not None
        [first], after = await calls_of_session(app, told.session_id, after=None, limit=1, caller=LOCAL_MODEL)
        assert first.call is not None
        assert after is not None
        assert after == first.call.token
        await complete_call(app, token=after, result="there")
        rest, end = await calls_of_session(app, told.session_id, after=after, limit=5, caller=LOCAL_MODEL)
    assert ([item.call.name for item in rest if item.call], end) == (["remote_b", "remote_a"], None)


async def test_a_place_that_is_not_of_the_session_is_refused(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        told, other = await waiting(app), await waiting(app)
        assert told.session_id is not None
        for after in ("", "x", tokens(other)["remote_a"]):
            with pytest.raises(InvalidCursor):
                await calls_of_session(app, told.session_id, after=after, limit=1, caller=LOCAL_MODEL)
        with pytest.raises(SessionNotFound):
            await calls_of_session(app, "sess_nothing", after=None, limit=1, caller=LOCAL_MODEL)


async def test_each_call_says_whose_it_is_and_how_it_is_answered(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks(("pay", {"amount": 5}), "remote_a")], {"pay": APPROVE, "remote_a": DEFER})
    async with work.open() as app:
        told = await waiting(app)
        items, _ = await calls_of_sessions(app, cursor=None, limit=10, caller=LOCAL_MODEL)
    by_name = {item.call.name: item for item in items if item.call is not None}
    assert {(item.session_id, item.agent, item.run_id) for item in items} == {(told.session_id, "helper", None)}
    assert by_name["pay"].next_action.startswith("a person allows or refuses pay: wf session approve call_")
    assert by_name["remote_a"].next_action.startswith('complete_call(token="call_')
    assert [by_name[call.name].call for call in told.pending_calls] == told.pending_calls


async def test_what_belongs_to_no_session_is_left_out_and_the_page_is_full_all_the_same(tmp_path: Path) -> None:
    """The calls of runs are kept beside those of sessions, and a session may be in the middle of being deleted."""
    async with desk(tmp_path).open() as app:
        await waiting(app)
        now = datetime.now(UTC)
        for number in range(3):
            stranger = Continuation(
                token=f"call_{number:026d}", session_id="run_1", principal="local", call_id="c1", name="pay",
                arguments={}, kind="deferred", created_at=now,
            )  # fmt: skip
            await app.stores.continuations.put(stranger)
        items, cursor = await calls_of_sessions(app, cursor=None, limit=2, caller=LOCAL_MODEL)
    assert ([item.agent for item in items], cursor) == (["helper", "helper"], None)


async def test_what_waits_for_a_session_that_cannot_be_read_hides_nothing_of_the_others(tmp_path: Path) -> None:
    work = desk(tmp_path)
    async with work.open() as app:
        damaged, sound = await waiting(app), await waiting(app)
        empty_the_record_of(damaged.session_id, tmp_path)
        items, cursor = await calls_of_sessions(app, cursor=None, limit=10, caller=LOCAL_MODEL)
    assert ({item.session_id for item in items}, cursor) == ({sound.session_id}, None)


def empty_the_record_of(session_id: str | None, folder: Path) -> None:
    (record,) = folder.rglob(f"sessions/{session_id}/session.json")
    record.write_bytes(b"")
