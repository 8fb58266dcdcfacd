"""What `calls.store` promises, held against every backend."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_artifacts.calls.samples import (
    SESSION,
    continuation,
    deliver,
    delivery,
    listed,
    load,
    put_all,
    token,
    tokens,
)
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import ContinuationKind, Waiting
from wf_artifacts.calls.store import CallCache, ContinuationStore
from wf_artifacts.errors import CallNotFound, InvalidId
from wf_artifacts.stores import open_stores
from wf_core.errors import NotJson

pytestmark = pytest.mark.anyio

NO_TOKENS = ["", " ", "..", "../x", "call_", "call_../../x", "call_a.b", "call_a/b", "call_" + "x" * 300, "call_🙂"]
NO_TOKENS.extend(["call_a\n", "call_a\u0000", "call_\ud800", "run_1", ".lock", "open", f"{token()}.json"])
ODD: list[Any] = ["a\u0000b", "🙂", 2**70, 1.5, None, [], {"": {"\u2028": [True, False]}}, "x" * 5_000_000]
PRINCIPALS = ["local", "", "a\u0000b", "Ünal", "x" * 1000]


class TestPutting:
    async def test_what_was_put_comes_back_as_it_was(self, calls: ContinuationStore) -> None:
        full = continuation(
            provider_call_id="toolu_1",
            reason="external worker",
            disposition={"tag": "defer"},
            rule="fetch_*",
            cache_key="k",
            context={"session_id": SESSION, "call_stack": ["agents.helper"]},
            expires_at=LATER,
        )
        assert await calls.put(full) == Waiting(continuation=full)
        assert await load(calls) == Waiting(continuation=full)

    async def test_putting_again_changes_nothing(self, calls: ContinuationStore) -> None:
        first = await calls.put(continuation())
        assert await calls.put(continuation(created_at=LATER, reason="again", kind="approval")) == first
        assert await load(calls) == first

    async def test_what_came_early_is_kept_when_it_is_put_again(self, calls: ContinuationStore) -> None:
        await calls.put(continuation())
        await deliver(calls, content="early")
        again = await calls.put(continuation())
        assert (again.state, again.delivery) == ("delivered", delivery("early"))

    @pytest.mark.parametrize("other", [("call_id", "t9.9"), ("session_id", "sess_2"), ("principal", "other")])
    async def test_the_token_of_another_call_is_refused(self, calls: ContinuationStore, other: tuple[str, str]) -> None:
        await calls.put(continuation())
        with pytest.raises(ValueError, match="stands for another call"):
            await calls.put(continuation().model_copy(update=dict([other])))
        assert await load(calls) == Waiting(continuation=continuation())

    @pytest.mark.parametrize("text", NO_TOKENS)
    async def test_what_cannot_be_a_token_is_refused(self, calls: ContinuationStore, text: str) -> None:
        with pytest.raises(InvalidId):
            await calls.put(continuation(token=text))

    @pytest.mark.parametrize("text", ["", "../x", "a/b", ".x", "x" * 300, "🙂"])
    async def test_what_cannot_be_a_session_is_refused(self, calls: ContinuationStore, text: str) -> None:
        with pytest.raises(InvalidId):
            await calls.put(continuation(session_id=text))
        assert await calls.of_session(text, now=NOW) == []
        await calls.delete_of(text)

    @pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, {"\udfff": 1}])
    async def test_what_is_no_json_is_refused(self, calls: ContinuationStore, value: Any) -> None:
        with pytest.raises(NotJson):
            await calls.put(continuation(arguments={"x": value}))
        with pytest.raises(CallNotFound):
            await load(calls)
        assert await listed(calls) == []

    async def test_what_is_changed_afterwards_changes_nothing_stored(self, calls: ContinuationStore) -> None:
        arguments = {"items": [1]}
        await calls.put(continuation(arguments=arguments))
        arguments["items"].append(2)
        (await load(calls)).continuation.arguments["items"].append(3)
        assert (await load(calls)).continuation.arguments == {"items": [1]}


class TestDelivering:
    async def test_the_first_delivery_stays_whatever_the_second_says(self, calls: ContinuationStore) -> None:
        await calls.put(continuation())
        assert await deliver(calls, content="first") == "applied"
        for second in ("first", "second"):
            assert await deliver(calls, content=second) == "already_completed"
        assert await deliver(calls, kind="approval", result=None) == "already_completed"
        assert await load(calls) == Waiting(
            continuation=continuation(), state="delivered", delivery=delivery("first"), ended_at=NOW
        )

    @pytest.mark.parametrize("content", ODD, ids=lambda value: repr(value)[:20])
    async def test_any_value_comes_back_as_it_was(self, calls: ContinuationStore, content: Any) -> None:
        await calls.put(continuation(arguments={"value": content} if content != ODD[-1] else {}))
        assert await deliver(calls, content=content) == "applied"
        (told,) = await calls.deliveries([token()], now=NOW)
        assert told.delivery == delivery(content)
        assert told == await load(calls)

    @pytest.mark.parametrize("value", [float("inf"), "a\ud800"])
    async def test_a_result_that_is_no_json_is_refused_and_the_call_stays_open(
        self, calls: ContinuationStore, value: Any
    ) -> None:
        await calls.put(continuation())
        with pytest.raises(NotJson):
            await deliver(calls, content=value)
        assert await deliver(calls, content="good") == "applied"

    @pytest.mark.parametrize("text", [*NO_TOKENS, token(1)])
    async def test_a_token_that_nobody_gave_is_unknown(self, calls: ContinuationStore, text: str) -> None:
        await calls.put(continuation())
        assert await calls.deliver(text, delivery(), principal=None, now=NOW) == "unknown"
        assert not await calls.close(text, now=NOW)
        assert await calls.deliveries([text], now=NOW) == []
        with pytest.raises(CallNotFound) as missing:
            await calls.load(text, principal=None, now=NOW)
        assert missing.value.code == "call_not_found"

    @pytest.mark.parametrize("owner", PRINCIPALS)
    async def test_the_token_of_somebody_else_is_unknown(self, calls: ContinuationStore, owner: str) -> None:
        await calls.put(continuation(principal=owner))
        for stranger in {*PRINCIPALS, "root"} - {owner}:
            assert await calls.deliver(token(), delivery(), principal=stranger, now=NOW) == "unknown"
            with pytest.raises(CallNotFound):
                await calls.load(token(), principal=stranger, now=NOW)
            assert await listed(calls, principal=stranger) == []
        assert await listed(calls, principal=owner) == [token()]
        assert await calls.deliver(token(), delivery(), principal=owner, now=NOW) == "applied"
        assert (await calls.load(token(), principal=owner, now=NOW)).state == "delivered"

    async def test_of_many_deliveries_at_once_one_is_applied(self, calls: ContinuationStore) -> None:
        await calls.put(continuation())
        answers: dict[int, str] = {}

        async def attempt(number: int) -> None:
            answers[number] = await deliver(calls, content=number)

        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(attempt, number)
        (winner,) = (number for number, answer in answers.items() if answer == "applied")
        assert sorted(answers.values()) == ["already_completed"] * 11 + ["applied"]
        assert (await load(calls)).delivery == delivery(winner)


class TestLooking:
    async def test_the_first_that_are_open_are_given_in_the_order_that_was_asked_for(
        self, calls: ContinuationStore
    ) -> None:
        await put_all(calls, 6)
        await calls.put(continuation(6, expires_at=LATER))
        await deliver(calls, 4)
        await calls.close(token(2), now=NOW)
        asked = [token(6), "no token", token(99), *reversed(tokens(6))]
        for _ in range(2):
            found = await calls.first_open(asked, now=LATER, limit=3)
            assert [one.token for one in found] == [token(5), token(3), token(1)]
        assert [one.token for one in await calls.first_open(asked, now=NOW, limit=1)] == [token(6)]
        assert await calls.first_open([], now=NOW, limit=3) == []


class TestExpiring:
    async def test_from_its_time_on_nothing_is_delivered(self, calls: ContinuationStore) -> None:
        await calls.put(continuation(0, expires_at=LATER))
        await calls.put(continuation(1, expires_at=LATER))
        just_before = LATER - timedelta(milliseconds=1)
        assert await calls.deliver(token(0), delivery(), principal=None, now=just_before) == "applied"
        assert await calls.deliver(token(1), delivery(), principal=None, now=LATER) == "expired"
        assert (await calls.load(token(0), principal=None, now=LATER)).state == "delivered"

    async def test_what_has_expired_stays_so_for_ever(self, shared: Shared) -> None:
        """Also when the clock goes back, and after a restart."""
        async with open_stores(shared.url) as stores:
            calls = stores.continuations
            for number in range(3):
                await calls.put(continuation(number, expires_at=LATER))
            assert await calls.deliver(token(0), delivery(), principal=None, now=LATER) == "expired"
            assert not await calls.close(token(1), now=LATER)
            (told,) = await calls.deliveries([token(2)], now=LATER + timedelta(days=1))
            assert (told.state, told.delivery, told.ended_at) == ("expired", None, LATER)
        async with open_stores(shared.url) as stores:
            calls = stores.continuations
            for number in range(3):
                assert await deliver(calls, number) == "expired"
                assert not await calls.close(token(number), now=NOW)
                again = await calls.put(continuation(number, expires_at=None, kind="in_doubt"))
                assert (again.state, await load(calls, number)) == ("expired", again)

    async def test_what_is_told_of_it_depends_on_the_time_until_somebody_acts_on_it(
        self, calls: ContinuationStore
    ) -> None:
        await calls.put(continuation(expires_at=LATER))
        assert (await calls.load(token(), principal=None, now=LATER)).state == "expired"
        assert [one.state for one in await calls.of_session(SESSION, now=LATER)] == ["expired"]
        assert await listed(calls, now=LATER) == []
        assert await listed(calls, now=NOW) == [token()]
        assert await deliver(calls) == "applied"


class TestClosing:
    async def test_nothing_is_delivered_to_what_is_closed(self, calls: ContinuationStore) -> None:
        await calls.put(continuation())
        assert [await calls.close(token(), now=NOW) for _ in range(2)] == [True, True]
        assert await deliver(calls) == "already_completed"
        assert await load(calls) == Waiting(continuation=continuation(), state="closed", ended_at=NOW)
        assert await calls.deliveries([token()], now=NOW) == []
        assert (await calls.put(continuation())).state == "closed"

    async def test_a_result_that_came_first_counts(self, calls: ContinuationStore) -> None:
        await calls.put(continuation())
        await deliver(calls)
        assert not await calls.close(token(), now=NOW)
        assert (await load(calls)).delivery == delivery()

    @pytest.mark.parametrize("kind", ["approval", "retry"])
    @pytest.mark.parametrize("later", ["in_doubt", "callee"])
    async def test_a_word_to_carry_it_out_is_used_up(
        self, calls: ContinuationStore, kind: str, later: ContinuationKind
    ) -> None:
        """So a call that is in doubt later, or waits for its callee, does not take the word for another one."""
        await calls.put(continuation(kind="approval"))
        assert await deliver(calls, kind=kind, result=None) == "applied"
        assert (await calls.put(continuation(kind=later))).state == "delivered"
        assert await calls.close(token(), now=NOW)
        anew = await calls.put(continuation(kind=later, created_at=LATER))
        assert anew == Waiting(continuation=continuation(kind=later, created_at=LATER))
        assert await calls.deliveries([token()], now=NOW) == []

    async def test_a_call_in_doubt_waits_anew(self, calls: ContinuationStore) -> None:
        await calls.put(continuation(0, kind="isolated"))
        await calls.close(token(0), now=NOW)
        await calls.put(continuation(1))
        for _ in range(2):  # A crash may let it be put again.
            for number in range(2):
                doubted = continuation(number, kind="in_doubt", created_at=LATER)
                assert await calls.put(doubted) == Waiting(continuation=doubted)
        assert await listed(calls) == [token(1), token(0)]
        assert await deliver(calls, 0, kind="retry", result=None) == "applied"
        assert (await calls.put(continuation(kind="in_doubt"))).state == "delivered"

    async def test_a_delivery_and_a_closing_at_once_never_both_count(self, calls: ContinuationStore) -> None:
        outcomes: dict[int, list[object]] = {number: [] for number in range(8)}

        async def attempt(number: int, act: Any) -> None:
            outcomes[number].append(await act)

        for number in outcomes:
            await calls.put(continuation(number))
        async with anyio.create_task_group() as tasks:
            for number in outcomes:
                acts = [deliver(calls, number), calls.close(token(number), now=NOW)]
                for act in acts if number % 2 else reversed(acts):
                    tasks.start_soon(attempt, number, act)
        for number, outcome in outcomes.items():
            state = (await load(calls, number)).state
            assert set(outcome) == ({"applied", False} if state == "delivered" else {"already_completed", True})


class TestCache:
    @pytest.mark.parametrize("value", [*ODD[:-1], {"type": "text", "content": "x"}], ids=repr)
    async def test_a_result_comes_back_as_it_was(self, cache: CallCache, value: Any) -> None:
        assert await cache.get("key") is None
        await cache.put("key", value, now=NOW)
        assert await cache.get("key") == value

    @pytest.mark.parametrize("key", ["", "../x", "a\u0000b", "🙂", "x" * 5000])
    async def test_a_key_is_any_text(self, cache: CallCache, key: str) -> None:
        await cache.put(key, key, now=NOW)
        await cache.put("other", 1, now=NOW)
        assert await cache.get(key) == key

    async def test_what_is_no_json_is_refused(self, cache: CallCache) -> None:
        for key, value in (("key", float("nan")), ("\ud800", 1)):
            with pytest.raises(NotJson):
                await cache.put(key, value, now=NOW)
            assert await cache.get(key) is None

    async def test_a_later_result_takes_the_place_of_an_earlier(self, cache: CallCache) -> None:
        for value in (1, 2):
            await cache.put("key", value, now=NOW)
        assert await cache.get("key") == 2

    async def test_old_results_are_forgotten(self, cache: CallCache) -> None:
        await cache.put("old", 1, now=NOW)
        await cache.put("new", 2, now=LATER)
        assert await cache.prune(LATER) == 1
        assert [await cache.get("old"), await cache.get("new")] == [None, 2]
        assert await cache.prune(LATER) == 0

    async def test_pages_meet_every_result_once(self, cache: CallCache) -> None:
        for number in range(7):
            await cache.put(f"key {number}", number, now=NOW)
        first = await cache.list_all(limit=4)
        rest = await cache.list_all(limit=4, cursor=first.next_cursor)
        assert sorted(one.result for one in (*first.items, *rest.items)) == list(range(7))
        assert (len(first.items), rest.next_cursor) == (4, None)
        assert {one.key for one in first.items} <= {f"key {number}" for number in range(7)}


async def test_two_stores_of_one_address_see_the_same(shared: Shared) -> None:
    async with open_stores(shared.url) as first, open_stores(shared.url) as second:
        await first.continuations.put(continuation())
        assert await deliver(second.continuations) == "applied"
        assert await deliver(first.continuations) == "already_completed"
        await second.cache.put("key", 1, now=NOW)
        assert await first.cache.get("key") == 1


@pytest.mark.parametrize("text", NO_TOKENS)
async def test_what_cannot_be_a_token_touches_no_file(home: Path, text: str) -> None:
    async with open_stores(f"file://{home}") as stores:
        calls = stores.continuations
        await calls.put(continuation())
        before = {path: path.stat().st_mtime_ns for path in home.parent.rglob("*")}
        assert await calls.deliver(text, delivery(), principal=None, now=NOW) == "unknown"
        assert not await calls.close(text, now=NOW)
        assert await calls.deliveries([text], now=NOW) == []
        assert {path: path.stat().st_mtime_ns for path in home.parent.rglob("*")} == before
