"""What is known of calls that were looked at: it is not read again, and is what it is all the same."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_artifacts.calls.samples import continuation, deliver, delivery, put_all, token, tokens
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import Waiting
from wf_artifacts.calls.seen import Seen
from wf_artifacts.calls.store import ContinuationStore
from wf_artifacts.storage.documents import Format
from wf_artifacts.stores import open_stores


def test_a_call_is_known_by_the_mark_under_which_it_was_read_and_by_no_other() -> None:
    seen = Seen()
    seen.note(Waiting(continuation=continuation()), 1)
    assert [seen.state(token(), mark, NOW) for mark in (1, 2)] == ["open", None]
    seen.note(Waiting(continuation=continuation(), state="closed"), 2)
    assert [seen.state(token(), mark, NOW) for mark in (1, 2)] == [None, "closed"]
    assert seen.state(token(1), 1, NOW) is None


def test_a_call_whose_time_has_come_is_read() -> None:
    seen = Seen()
    seen.note(Waiting(continuation=continuation(expires_at=LATER)), 1)
    assert seen.state(token(), 1, LATER - timedelta(milliseconds=1)) == "open"
    assert seen.state(token(), 1, LATER) is None


def test_no_more_are_known_than_there_is_room_for() -> None:
    seen = Seen(most=2)
    for number in (0, 1, 1, 2):
        seen.note(Waiting(continuation=continuation(number)), 1)
    assert [seen.state(token(number), 1, NOW) for number in range(3)] == [None, "open", "open"]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The documents that are read from now on."""
    documents: list[str] = []
    decode = Format[Any].decode

    def note(self: Format[Any], data: bytes, document: str, **identity: object) -> Any:
        documents.append(document)
        return decode(self, data, document, **identity)

    monkeypatch.setattr(Format, "decode", note)
    return documents


@pytest.mark.anyio
async def test_what_another_process_delivers_is_found_though_it_was_seen_open(shared: Shared) -> None:
    async with open_stores(shared.url) as first, open_stores(shared.url) as second:
        await put_all(first.continuations, 4)
        for number in (2, 0, 3):
            for _ in range(2):
                await first.continuations.deliveries(tokens(4), now=NOW)
            assert await deliver(second.continuations, number, content=number) == "applied"
        told = await first.continuations.deliveries(tokens(4), now=NOW)
        assert [(one.token, one.delivery) for one in told] == [(token(n), delivery(n)) for n in (0, 2, 3)]


@pytest.mark.anyio
async def test_what_is_seen_open_expires(calls: ContinuationStore) -> None:
    await calls.put(continuation(expires_at=LATER))
    for _ in range(2):
        assert await calls.deliveries([token()], now=NOW) == []
    assert [one.state for one in await calls.deliveries([token()], now=LATER)] == ["expired"]
    assert await deliver(calls) == "expired"


@pytest.mark.anyio
async def test_what_is_seen_closed_may_wait_anew(shared: Shared) -> None:
    async with open_stores(shared.url) as first, open_stores(shared.url) as second:
        await first.continuations.put(continuation())
        await first.continuations.close(token(), now=NOW)
        assert await first.continuations.first_open([token()], now=NOW, limit=9) == []
        anew = await second.continuations.put(continuation(kind="in_doubt"))
        assert await first.continuations.first_open([token()], now=NOW, limit=9) == [anew]
        await deliver(second.continuations, kind="retry", result=None)
        assert [one.token for one in await first.continuations.deliveries([token()], now=NOW)] == [token()]


@pytest.mark.anyio
async def test_what_still_waits_is_read_once_however_often_it_is_looked_at(shared: Shared, decoded: list[str]) -> None:
    async with open_stores(shared.url) as stores:
        calls = stores.continuations
        await put_all(calls, 30)
        await calls.deliveries(tokens(30), now=NOW)
        decoded.clear()
        assert await calls.deliveries(tokens(30), now=NOW) == []
        assert decoded == []
        await deliver(calls, 7)
        decoded.clear()
        assert [one.token for one in await calls.deliveries(tokens(30), now=NOW)] == [token(7)]
        assert len(decoded) == 1


@pytest.mark.anyio
async def test_what_has_its_answer_is_read_once_on_the_way_to_what_is_open(shared: Shared, decoded: list[str]) -> None:
    async with open_stores(shared.url) as stores:
        calls = stores.continuations
        await put_all(calls, 120)
        for number in range(110):
            await calls.close(token(number), now=NOW)
        await calls.first_open(tokens(120), now=NOW, limit=3)
        decoded.clear()
        found = await calls.first_open(tokens(120), now=NOW, limit=3)
        assert [one.token for one in found] == [token(number) for number in (110, 111, 112)]
        assert len(decoded) <= 4
