"""What is wrong with a value that does not fit its schema, put into words once for every error that says so."""

from dataclasses import dataclass

from wf_core.jsonvalue import JsonValue
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
        "; ".join(f"{problem.where}: {problem.message}" for problem in problems),
        [{"where": problem.where, "message": problem.message} for problem in problems],
    )
