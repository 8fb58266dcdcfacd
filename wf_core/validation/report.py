"""What reading a plan finds: issues, each at its place, and the plan itself when it may be run."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from wf_core.ids import close_matches
from wf_core.plan import WorkflowPlan
from wf_core.schemas.pointers import pointer_to

MAX_COMPARED = 25
"""Up to so many issues unknown names are compared with the known ones: a broken plan of any size is read in time."""

MAX_LISTED = 12
"""So many known names are listed at most where none of them looks like the wrong one."""

Severity = Literal["error", "warning"]
Segment = str | int
Place = tuple[Segment, ...]
"""Keys and indices from the root of the plan."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong (`error`) or looks wrong (`warning`)."""

    severity: Severity
    code: str
    """Stable and machine-readable."""
    path: str
    """JSON pointer into the plan."""
    message: str
    hint: str | None = None
    """What to do next."""

    def as_json(self) -> dict[str, Any]:
        return {
            "severity": self.severity,
            "code": self.code,
            "path": self.path,
            "message": self.message,
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Every issue of a plan, in the order in which it was found."""

    issues: list[Issue]
    plan: WorkflowPlan | None
    """The plan as records; None where an issue is an error."""

    @property
    def valid(self) -> bool:
        """Whether the plan may be run; warnings do not forbid it."""
        return all(issue.severity != "error" for issue in self.issues)


@dataclass(frozen=True, slots=True)
class Findings:
    """Collects issues at one place of the plan; `at` gives a collector of the same list further in."""

    issues: list[Issue] = field(default_factory=list[Issue])
    place: Place = ()

    def at(self, *segments: Segment) -> "Findings":
        return Findings(self.issues, (*self.place, *segments))

    def error(self, code: str, message: str, hint: str | None = None) -> None:
        self.issues.append(Issue("error", code, pointer_to(self.place), message, hint))

    def unknown(self, code: str, message: str, name: str, known: Iterable[str], hint: str | None = None) -> None:
        """Report a name that is not among the known ones; `hint` where none of them looks like it."""
        suggestion = suggest(name, known) if len(self.issues) < MAX_COMPARED else None
        self.error(code, message, suggestion or hint)

    def warning(self, code: str, message: str, hint: str | None = None) -> None:
        self.issues.append(Issue("warning", code, pointer_to(self.place), message, hint))


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Name the known names that look like a wrong one, or all of them where they are few."""
    names = sorted(known)
    close = close_matches(name, names)
    if close:
        return f"Did you mean {' or '.join(f'`{match}`' for match in close)}?"
    if 0 < len(names) <= MAX_LISTED:
        return f"Known here: {', '.join(f'`{known_name}`' for known_name in names)}."
    return None
