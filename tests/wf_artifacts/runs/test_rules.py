"""What does not fit together, or does not follow, is refused before anything is written."""

from typing import Any

import pytest

from tests.wf_artifacts.samples import checkpoint, following, inputs, new_run_id, record, trace
from wf_artifacts.errors import IdempotencyConflict
from wf_artifacts.runs.rules import (
    belongs,
    journal_line,
    require_first_state,
    require_next_state,
    require_same_input,
    size_of,
    trace_of,
)

BEGUN = record(trace_count=2)
NEXT = following(BEGUN, entries=3)


def test_what_fits_is_accepted() -> None:
    require_first_state(BEGUN, checkpoint(BEGUN), trace(record(), 2))
    require_next_state(BEGUN, NEXT, checkpoint(NEXT), trace(BEGUN, 3))
    require_next_state(BEGUN, BEGUN.model_copy(update={"trace_count": 3}), None, trace(BEGUN))
    require_next_state(BEGUN, BEGUN, None, [])


@pytest.mark.parametrize(
    ("fields", "entries", "reason"),
    [
        ({"trace_count": 1}, [b"{}"] * 2, "2 entries after 0 do not make 1"),
        ({}, [b"{}", b"{}\n{}"], "one JSON object on one line"),
        ({}, [b"{}", b"[]"], "one JSON object on one line"),
    ],
)
def test_a_first_state_that_does_not_fit_is_refused(fields: dict[str, Any], entries: list[bytes], reason: str) -> None:
    begun = BEGUN.model_copy(update=fields)
    with pytest.raises(ValueError, match=reason):
        require_first_state(begun, checkpoint(begun), entries)


def test_a_first_state_names_the_checkpoint_that_it_comes_with() -> None:
    moved = BEGUN.model_copy(update={"checkpoint": 7})
    require_first_state(moved, checkpoint(moved), trace(record(), 2))
    with pytest.raises(ValueError, match="checkpoint 1, named 7"):
        require_first_state(moved, checkpoint(BEGUN), trace(record(), 2))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"run_id": new_run_id(9)}, "cannot follow one of"),
        ({"trace_count": 9}, "3 entries after 2 do not make 9"),
        ({"checkpoint": 3}, "checkpoint 3, named 3, does not follow 1"),
        ({"checkpoint": 1}, "checkpoint 1, named 1, does not follow 1"),
    ],
)
def test_a_next_state_that_does_not_follow_is_refused(fields: dict[str, Any], reason: str) -> None:
    wrong = NEXT.model_copy(update=fields)
    with pytest.raises(ValueError, match=reason):
        require_next_state(BEGUN, wrong, checkpoint(wrong), trace(BEGUN, 3))


def test_a_record_names_the_checkpoint_that_there_is() -> None:
    with pytest.raises(ValueError, match="names checkpoint 2, the latest is 1"):
        require_next_state(BEGUN, NEXT, None, trace(BEGUN, 3))
    with pytest.raises(ValueError, match="does not belong to"):
        require_next_state(BEGUN, NEXT, checkpoint(record(new_run_id(9), checkpoint=2)), trace(BEGUN, 3))


def test_a_key_with_another_input_is_a_conflict() -> None:
    require_same_input(BEGUN, record(new_run_id(9)))
    with pytest.raises(IdempotencyConflict):
        require_same_input(BEGUN, record(new_run_id(9), input_digest="sha256:00", idempotency_key="k"))


def test_what_is_not_asked_for_does_not_matter() -> None:
    assert belongs(BEGUN, None)
    assert belongs(BEGUN, "local", "running", "publish")
    assert not belongs(BEGUN, "other")
    assert not belongs(BEGUN, "local", "completed")
    assert not belongs(BEGUN, "local", None, "other")


def test_a_line_of_the_journal_gives_back_the_entries_that_the_input_made() -> None:
    (given,) = inputs(record(), entries=2)
    assert [entry["index"] for entry in trace_of(journal_line(given))] == [0, 1]
    assert size_of([given]) < len(journal_line(given))
