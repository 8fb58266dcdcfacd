"""Errors have a stable code, keep their facts, and say what to do next."""

import pytest

from wf_artifacts.errors import (
    ArtifactInUse,
    ArtifactNotFound,
    CallNotFound,
    ClaimLost,
    DeploymentExists,
    DeploymentNotFound,
    DocumentUnreadable,
    DriverMissing,
    IdempotencyConflict,
    InvalidCursor,
    InvalidId,
    InvalidStoreUrl,
    NotAStore,
    RunBusy,
    RunNotFound,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
    UnfitTarget,
)
from wf_core.errors import UnknownCall

ERRORS: list[tuple[StoreError, str]] = [
    (RunNotFound("run_1"), "run_not_found"),
    (ArtifactNotFound("a"), "artifact_not_found"),
    (ArtifactNotFound("a", 3, versions=(1, 2)), "artifact_not_found"),
    (DeploymentNotFound("d"), "deployment_not_found"),
    (CallNotFound("call_1"), "call_not_found"),
    (DeploymentExists("d"), "deployment_exists"),
    (ArtifactInUse("a", 1, used_by=("d",)), "artifact_in_use"),
    (RunBusy("run_1"), "run_busy"),
    (ClaimLost("run_1"), "run_busy"),
    (IdempotencyConflict("k", "run_1"), "idempotency_conflict"),
    (InvalidId("the id of an artifact", "../x"), "invalid_argument"),
    (InvalidCursor("x"), "invalid_argument"),
    (InvalidStoreUrl("it is empty"), "invalid_argument"),
    (StoreBusy(), "store_busy"),
    (UnfitTarget("it is a folder"), "invalid_argument"),
    (NotAStore("the database", "it belongs to another program"), "store_unavailable"),
    (StoreUnavailable("runs", "Permission denied"), "store_unavailable"),
    (StoreFull("runs", "No space left on device"), "store_full"),
    (DocumentUnreadable("runs/run_1/run.json", "Permission denied"), "store_unavailable"),
    (DriverMissing("PostgreSQL", extra="postgres"), "store_unavailable"),
]


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=[str(error) for error, _ in ERRORS])
def test_every_error_has_its_code_and_says_what_to_do_next(error: StoreError, code: str) -> None:
    assert error.code == code
    assert error.message.endswith(".")
    assert error.hint is not None
    assert error.hint.endswith((".", "?"))


def test_a_call_that_is_not_stored_is_one_that_there_is_not() -> None:
    assert isinstance(CallNotFound("call_1"), UnknownCall)
    assert CallNotFound("call_1").code == UnknownCall.code


def test_an_unknown_id_is_answered_with_close_ones() -> None:
    error = RunNotFound("run_1", close=["run_2", "run_3"])
    assert error.close == ("run_2", "run_3")
    assert error.details == {"id": "run_1", "close_matches": ["run_2", "run_3"]}
    assert str(error) == "There is no run 'run_1'. Did you mean run_2, run_3?"


def test_an_unknown_version_is_answered_with_those_that_there_are() -> None:
    error = ArtifactNotFound("notes", 3, versions=(1, 2))
    assert str(error) == "There is no version 3 of artifact 'notes'. It has 1, 2."
    assert error.details["versions"] == [1, 2]


def test_not_found_is_a_lookup_error_and_a_full_store_is_an_unavailable_one() -> None:
    assert isinstance(RunNotFound("run_1"), LookupError)
    assert isinstance(StoreFull("runs", "x"), StoreUnavailable)


def test_a_long_cursor_is_not_repeated_whole() -> None:
    assert len(InvalidCursor("x" * 10_000).details["cursor"]) == 200
