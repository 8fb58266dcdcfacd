"""What every error promises: a stable code, a message, a hint, and details that are strict JSON."""

from collections.abc import Iterator

import pytest

from wf_core import errors
from wf_core.errors import (
    AmbiguousInterrupt,
    BrokenHistory,
    CallAlreadyCompleted,
    CallExpired,
    EnvelopeError,
    FormatTooNew,
    IllegalTransition,
    InvalidInput,
    InvalidPath,
    InvalidPlan,
    InvalidPolicy,
    InvalidResult,
    InvalidResumeOutcome,
    InvalidResumePayload,
    InvalidSchema,
    InvalidTemplate,
    MaxTurnsReached,
    NotJson,
    PersonRequired,
    RunNotInterrupted,
    StaleInterrupt,
    StateCorrupt,
    StepFailed,
    UnknownCall,
    WfError,
    WrongAnswerKind,
)
from wf_core.jsonvalue import check

CODES: dict[type[WfError], str] = {
    AmbiguousInterrupt: "ambiguous_interrupt",
    BrokenHistory: "history_broken",
    CallAlreadyCompleted: "call_already_completed",
    CallExpired: "call_expired",
    EnvelopeError: "envelope_invalid",
    FormatTooNew: "state_version_unsupported",
    IllegalTransition: "illegal_transition",
    InvalidInput: "invalid_input",
    InvalidPath: "invalid_path",
    InvalidPlan: "invalid_plan",
    InvalidPolicy: "invalid_policy",
    InvalidResumeOutcome: "invalid_resume_outcome",
    InvalidResumePayload: "invalid_resume_payload",
    InvalidResult: "invalid_result",
    InvalidSchema: "invalid_schema",
    InvalidTemplate: "invalid_template",
    MaxTurnsReached: "max_turns",
    NotJson: "not_json",
    PersonRequired: "person_required",
    RunNotInterrupted: "run_not_interrupted",
    StaleInterrupt: "stale_interrupt",
    StateCorrupt: "state_corrupt",
    UnknownCall: "call_not_found",
    WrongAnswerKind: "wrong_answer_kind",
}

MADE: list[WfError] = [
    NotJson("state.a", "NaN"),
    InvalidPlan("Two issues.", [{"code": "unknown_start", "path": "/start"}]),
    InvalidPolicy([{"where": "policy.default", "message": "is no object"}]),
    EnvelopeError("envelope_missing", "The worker printed nothing."),
    StepFailed("input_invalid", "No such input.", details={"where": "input"}),
    FormatTooNew(document="run", found=4, supported=3),
    PersonRequired("Only a person may answer.", hint="Answer on the command line."),
]


def leaves(tree: type[WfError]) -> Iterator[type[WfError]]:
    """Give the errors of this module that nothing descends from here."""
    below = [error for error in tree.__subclasses__() if error.__module__ == errors.__name__]
    if not below:
        yield tree
    for error in below:
        yield from leaves(error)


@pytest.mark.parametrize(("error", "code"), CODES.items(), ids=lambda part: getattr(part, "__name__", part))
def test_codes_are_stable(error: type[WfError], code: str) -> None:
    assert error.code == code


def test_every_error_has_a_code_of_its_own() -> None:
    """`StepFailed` is given its code; a code that two classes share would tell callers nothing."""
    own = {error for error in leaves(WfError) if error is not StepFailed}
    assert own <= CODES.keys()
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_details_are_strict_json(error: WfError) -> None:
    check(error.details, "details")
    check([error.code, error.message, error.hint], "error")


def test_the_text_of_an_error_ends_with_what_to_do_next() -> None:
    assert str(WfError("It is gone.")) == "It is gone."
    assert str(WfError("It is gone.", hint="Save it again.")) == "It is gone. Save it again."
    assert str(PersonRequired("No.", hint="Ask a person.")) == "No. Ask a person."


def test_details_are_a_copy() -> None:
    facts = {"a": 1}
    error = WfError("It is gone.", details=facts)
    facts["a"] = 2
    assert error.details == {"a": 1}


def test_no_json_names_the_place() -> None:
    error = NotJson("state.items[3].when", "a value of type datetime")
    assert (error.where, error.reason) == ("state.items[3].when", "a value of type datetime")
    assert error.message == "state.items[3].when: a value of type datetime."
    assert error.details == {"where": error.where, "reason": error.reason}


def test_a_plan_that_does_not_validate_carries_every_issue() -> None:
    issues = [{"code": "unknown_start", "path": "/start"}, {"code": "missing_route", "path": "/steps/a/routes"}]
    error = InvalidPlan("Two issues.", issues)
    assert error.issues == issues
    assert error.details == {"issues": issues}


def test_a_failed_step_has_the_code_of_its_error_record() -> None:
    assert StepFailed("path_not_found", "Nothing is there.").code == "path_not_found"


def test_a_newer_format_says_what_to_upgrade() -> None:
    error = FormatTooNew(document="run", found=4, supported=3)
    assert (error.found, error.supported) == (4, 3)
    assert "format 4" in str(error)
    assert "Upgrade" in str(error)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (NotJson("a", "NaN"), ValueError),
        (InvalidTemplate("No path."), InvalidPath),
        (InvalidPath("No path."), ValueError),
        (StaleInterrupt("Not open."), LookupError),
        (PersonRequired("Only a person."), PermissionError),
        (StateCorrupt("Damaged."), ValueError),
    ],
)
def test_errors_can_be_caught_by_their_builtin_meaning(error: WfError, builtin: type[Exception]) -> None:
    with pytest.raises(builtin):
        raise error
