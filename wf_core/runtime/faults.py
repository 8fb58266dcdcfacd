"""What is wrong with a value, put into words once for every error that says so."""

from dataclasses import dataclass

from wf_core.errors import NotJson, StepFailed
from wf_core.jsonvalue import JsonValue, storable
from wf_core.jsonvalue import check as check_json
from wf_core.runtime.work import CallFailure
from wf_core.schemas import Check


@dataclass(frozen=True, slots=True)
class Fault:
    """Every problem of one value."""

    text: str
    """For people: each problem with its place."""
    problems: list[JsonValue]
    """For machines: `{"where", "message"}` each."""


def fault(check: Check | None, value: JsonValue, where: str) -> Fault | None:
    """Judge a value; None when it fits. `where` names the value in the problems' places."""
    if check is None or check.accepts(value):
        return None
    problems = check.problems(value, where)
    return Fault(
        "; ".join(map(str, problems)),
        [{"where": problem.where, "message": problem.message} for problem in problems],
    )


def refuse_deep(code: str, what: str, value: JsonValue) -> None:
    """Fail the step with `code` where a plan has nested values that came in, each within bounds, beyond what is stored.

    Raises:
        StepFailed
    """
    try:
        check_json(value, "value")
    except NotJson as bad:
        raise StepFailed(code, f"{what} cannot be stored: {bad.reason}.", details=bad.details) from bad


def storable_failure(failure: CallFailure) -> CallFailure:
    """Give what an attempt failed of as it can be stored: a failure is taken whatever it brings."""
    try:
        check_json(failure.details, "details")
        details = failure.details
    except NotJson as bad:
        details: dict[str, JsonValue] = {"refused": str(bad)}
    return CallFailure(storable(failure.code), storable(failure.message), failure.executed, details)
