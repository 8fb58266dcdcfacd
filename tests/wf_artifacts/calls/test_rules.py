"""From what is stored and what is told to what is to be stored: every answer, without any store."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls import rules
from wf_artifacts.calls.models import Continuation, Waiting, WaitingState
from wf_artifacts.errors import CallNotFound, InvalidId
from wf_artifacts.storage.pages import Damaged, Page
from wf_core.errors import StateCorrupt

STATES: tuple[WaitingState, ...] = ("open", "delivered", "expired", "closed")


def waiting(state: WaitingState = "open", **fields: Any) -> Waiting:
    said = delivery() if state == "delivered" else None
    return Waiting(continuation=continuation(**fields), state=state, delivery=said)


@pytest.mark.parametrize("text", ["call_0", "call_0123456789ABCDEFGHJKMNPQRS", "call_01JDZ_c3", f"call_{'x' * 100}"])
def test_a_token_may_name_a_file(text: str) -> None:
    assert rules.is_token(text)
    rules.require_storable(continuation(token=text))


@pytest.mark.parametrize("text", ["", "call_", "call_a.b", "call_a\n", "call_é", f"call_{'x' * 101}", "xcall_a"])
def test_no_other_text_is_a_token(text: str) -> None:
    assert not rules.is_token(text)
    with pytest.raises(InvalidId):
        rules.require_storable(continuation(token=text))


@pytest.mark.parametrize("state", STATES)
def test_one_that_is_there_stays_when_it_is_put_again(state: WaitingState) -> None:
    earlier = waiting(state)
    assert rules.putting(earlier, continuation(created_at=LATER, kind="approval")) is earlier


def test_a_call_in_doubt_takes_the_place_of_what_it_outlived() -> None:
    doubted = continuation(kind="in_doubt", created_at=LATER)
    assert rules.putting(waiting("closed"), doubted) == Waiting(continuation=doubted)
    assert rules.putting(waiting("open"), doubted) == Waiting(continuation=doubted)
    for earlier in (waiting("delivered"), waiting("expired"), waiting("open", kind="in_doubt")):
        assert rules.putting(earlier, doubted) is earlier


def test_an_approved_call_waits_for_its_callee_in_the_place_of_its_approval() -> None:
    called = continuation(kind="callee", created_at=LATER)
    assert rules.putting(waiting("closed"), called) == Waiting(continuation=called)
    for earlier in (waiting("open"), waiting("delivered"), waiting("expired")):
        assert rules.putting(earlier, called) is earlier


@pytest.mark.parametrize("other", [("call_id", "t9"), ("session_id", "sess_9"), ("principal", "other")])
def test_a_token_stands_for_one_call(other: tuple[str, str]) -> None:
    taken: Continuation = continuation().model_copy(update=dict([other]))
    with pytest.raises(ValueError, match="another call"):
        rules.putting(waiting(), taken)


def test_a_delivery_is_applied_to_what_is_open_and_to_nothing_else() -> None:
    answer, stored = rules.delivering(waiting(), delivery(), "local", NOW)
    assert (answer, stored.state, stored.delivery, stored.ended_at) == ("applied", "delivered", delivery(), NOW)
    for earlier in (waiting("delivered"), waiting("closed"), waiting("expired")):
        told = "expired" if earlier.state == "expired" else "already_completed"
        answer, stored = rules.delivering(earlier, delivery("late"), "local", NOW)
        assert (answer, stored) == (told, earlier)
        assert stored is earlier


def test_somebody_else_learns_nothing() -> None:
    earlier = waiting(expires_at=NOW)
    assert rules.delivering(earlier, delivery(), "other", LATER) == ("unknown", earlier)
    assert rules.require_found(earlier, token(), "local") is rules.require_found(earlier, token(), None) is earlier
    for found in (earlier, None):
        with pytest.raises(CallNotFound):
            rules.require_found(found, token(), "other")


def test_its_time_comes_at_the_very_instant() -> None:
    earlier = waiting(expires_at=LATER)
    assert rules.at(earlier, LATER - timedelta(milliseconds=1)) is earlier
    expired = rules.at(earlier, LATER + timedelta(days=1))
    assert (expired.state, expired.ended_at) == ("expired", LATER)
    assert rules.delivering(earlier, delivery(), None, LATER) == ("expired", rules.at(earlier, LATER))
    assert rules.expiring(earlier, LATER) == (expired, expired)
    delivered = Waiting(continuation=continuation(expires_at=LATER), state="delivered", delivery=delivery())
    assert rules.at(delivered, LATER) is delivered


def test_what_waits_or_was_allowed_is_closed_and_a_result_is_not() -> None:
    allowed = Waiting(continuation=continuation(), state="delivered", delivery=delivery(kind="approval", result=None))
    for earlier in (waiting(), allowed):
        closed, stored = rules.closing(earlier, NOW)
        assert (closed, stored.state, stored.ended_at) == (True, "closed", NOW)
    for earlier in (waiting("closed"), waiting("delivered"), waiting("expired")):
        assert rules.closing(earlier, NOW) == (earlier.state == "closed", earlier)
    assert rules.closing(waiting(expires_at=LATER), LATER)[0] is False


def test_places_sort_by_time_and_then_by_token() -> None:
    made = [continuation(9), continuation(0, created_at=LATER), continuation(1, created_at=LATER)]
    places = [rules.place_of(one) for one in made]
    assert places == sorted(places)
    assert [rules.token_at(place) for place in places] == [one.token for one in made]
    assert all(map(rules.is_place, places))
    assert rules.oldest_first([Waiting(continuation=one) for one in reversed(made)]) == [
        Waiting(continuation=one) for one in made
    ]


@pytest.mark.parametrize("text", ["", "x", token(), f"1-{token()}", f"{1:015}-x", f"{1:015}{token()}"])
def test_no_other_text_is_a_place(text: str) -> None:
    assert not rules.is_place(text)


def test_what_is_damaged_is_named_by_its_token() -> None:
    error = StateCorrupt("x")
    page: Page[Waiting] = Page((), None, (Damaged(rules.place_of(continuation()), error),))
    assert rules.by_token(page).damaged == (Damaged(token(), error),)


def test_texts_of_any_kind_have_digests_of_one_length() -> None:
    texts = ["", "\ud800", "a\u0000b", "🙂", "x" * 100_000]
    assert {len(rules.key_digest(text)) for text in texts} == {64}
    assert {len(rules.principal_digest(text)) for text in texts} == {32}
    assert len({rules.key_digest(text) for text in texts}) == len(texts)


def test_why_a_callee_is_waited_for_is_told_once_it_is_known() -> None:
    told = continuation(kind="callee", created_at=LATER, reason="the run asks")
    announced = waiting("open", kind="callee")
    assert rules.putting(announced, told).continuation.reason == "the run asks"
    assert rules.putting(announced, told).continuation.created_at == announced.continuation.created_at
    assert rules.putting(announced, announced.continuation) is announced
    for earlier in (waiting("delivered", kind="callee"), waiting("open"), waiting("open", kind="in_doubt")):
        assert rules.putting(earlier, told) is earlier
