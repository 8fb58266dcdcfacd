"""Names of stored things."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wf_core.ids import (
    RUN_ID_RANDOM_BITS,
    call_token,
    close_matches,
    derived_session_id,
    is_id,
    is_run_id,
    is_session_id,
    read_call_token,
    run_id,
    session_id,
)

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)

instants = st.datetimes(datetime(1970, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
Name = Callable[[datetime, int], str]
dated = pytest.mark.parametrize("name", [run_id, session_id])
chances = st.integers(0, 2**RUN_ID_RANDOM_BITS - 1)


@pytest.mark.parametrize("text", ["a", "publish_notes", "A.b-c_1", "0", "x" * 128])
def test_ids_are_letters_digits_and_a_few_signs(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text", ["", ".", "..", "../x", ".hidden", "a/b", "a\\b", "a b", "a\n", "-a", "_a", "é", "x" * 129, "a\x00", "C:"]
)
def test_what_could_mislead_a_file_system_is_no_id(text: str) -> None:
    assert not is_id(text)


@pytest.mark.parametrize("other", [b"notes", 5, None])
def test_what_is_no_text_is_no_id_and_like_none(other: object) -> None:
    """A damaged row may hold anything."""
    assert not is_id(other)
    assert close_matches("nots", ["notes", other]) == ["notes"]


@given(instants, chances)
def test_the_id_of_a_run_or_a_session_may_be_a_file_name_and_is_known_as_one(now: datetime, chance: int) -> None:
    run, session = run_id(now, chance), session_id(now, chance)
    assert (is_run_id(run), is_session_id(run)) == (True, False)
    assert (is_run_id(session), is_session_id(session)) == (False, True)
    assert is_id(run)
    assert is_id(session)


@dated
@given(instants, chances, chances, st.integers(1, 10**9))
def test_dated_ids_sort_by_the_millisecond_of_creation(
    name: Name, now: datetime, one: int, other: int, later: int
) -> None:
    assert name(now, one) < name(now + timedelta(milliseconds=later), other)


@dated
@given(instants, chances, chances)
def test_dated_ids_of_one_instant_differ_by_chance(name: Name, now: datetime, one: int, other: int) -> None:
    assert (name(now, one) == name(now, other)) is (one == other)


@pytest.mark.parametrize(
    "text",
    ["", "run_", "run_" + "0" * 26, "run_" + "0" * 37, "run_" + "U" * 36, "x" + "0" * 36, "run_" + "0" * 36 + "\n"],
)
def test_other_texts_are_no_run_ids_nor_session_ids(text: str) -> None:
    assert not is_run_id(text)
    assert not is_session_id(text.replace("run_", "sess_"))


def test_close_matches_names_the_closest_first() -> None:
    assert close_matches("publsh", ["archive", "publish_note", "publish"]) == ["publish", "publish_note"]


def test_close_matches_looks_past_the_case_of_letters() -> None:
    assert close_matches("PUBLISH", {"publish"}) == ["publish"]


def test_close_matches_gives_no_more_than_asked_for() -> None:
    assert len(close_matches("step", [f"step{index}" for index in range(9)], n=2)) == 2


def test_nothing_is_close_to_a_text_without_end() -> None:
    assert close_matches("x" * 1_000_000, ["publish"]) == []


def test_a_token_of_a_runs_call_names_both() -> None:
    run = run_id(NOW, 7)
    token = call_token(run, "c3")
    assert token == f"call_{run.removeprefix('run_')}_c3"
    assert read_call_token(token) == (run, "c3")


@pytest.mark.parametrize("token", ["", "call_", "call_ABC", "call_1_c1", "call_ABC_int_1", "sess_1"])
def test_what_is_no_token_of_a_runs_call_names_nothing(token: str) -> None:
    assert read_call_token(token) is None
    assert read_call_token(f"{call_token(run_id(NOW, 7), 'c3')}x") is None


@pytest.mark.parametrize("owner", [run_id(NOW, 7), session_id(NOW, 7)])
def test_a_derived_session_id_follows_from_the_key_and_sorts_beside_its_owner(owner: str) -> None:
    later = NOW + timedelta(days=1)
    one = derived_session_id(owner, f"{owner}:c1", later)
    assert is_session_id(one)
    assert one == derived_session_id(owner, f"{owner}:c1", NOW)
    assert one != derived_session_id(owner, f"{owner}:c2", NOW)
    assert session_id(NOW, 0) <= one < session_id(NOW + timedelta(milliseconds=1), 0)


def test_a_session_of_a_call_that_belongs_to_nobody_sorts_by_now() -> None:
    later = session_id(NOW + timedelta(milliseconds=1), 0)
    assert session_id(NOW, 0) <= derived_session_id("call_1", "call_1", NOW) < later
