"""The error tree that every package hangs its own errors on.

    WfError                      anything wrong that a caller can act on
    ├── NotJson                  a value that is no JSON, and where it stands
    ├── InvalidPath              text that is no path
    │   └── InvalidTemplate      text whose {{placeholders}} do not hold paths
    ├── InvalidSchema            a JSON Schema that cannot be used
    ├── InvalidPlan              a plan that does not validate, with every issue
    ├── StepFailed               a step of a run failed: becomes the run's error record
    ├── RunRefused               a transition that the run's state does not allow; nothing changed
    │   ├── InvalidInput         the input does not fit the plan's input schema
    │   ├── RunNotInterrupted    there is no question to answer
    │   ├── AmbiguousInterrupt   several questions are open and none was named
    │   ├── StaleInterrupt       the named question is not open
    │   ├── InvalidResumeOutcome the question does not offer this outcome
    │   ├── InvalidResumePayload the answer does not fit the question's schema
    │   ├── UnknownCall          there is no such call
    │   ├── CallAlreadyCompleted the call has ended, or is under way
    │   ├── CallExpired          nobody answered the call in time
    │   ├── WrongAnswerKind      a result for what asks for an approval, or the other way round
    │   ├── InvalidResult        what is told as a call's result cannot be one
    │   └── PersonRequired       only a person may answer
    ├── InvalidPolicy            a call policy, as data, that cannot be read, with every issue
    ├── EnvelopeError            what an isolated worker printed is no answer
    ├── SessionRefused           a transition that the session's state does not allow; nothing changed
    │   ├── IllegalTransition    a call or a turn is not in a state for it
    │   ├── MaxTurnsReached      the model was asked as often as the agent allows
    │   ├── BrokenHistory        a history that no model may be shown
    │   └── and of those above UnknownCall, CallAlreadyCompleted, CallExpired, WrongAnswerKind, InvalidResult
    └── StateError               a stored document that cannot be read
        ├── StateCorrupt         damaged, truncated, or contradicting itself
        └── FormatTooNew         written by a newer version

Every error has a stable `code`, a `message` for people, a `hint` that says what to do next, and strict JSON `details`.
"""

from collections.abc import Mapping, Sequence
from typing import Any


class WfError(Exception):
    """Something wrong that the caller can act on."""

    code: str = "internal_error"
    """Stable and machine-readable; users match on it."""

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} {self.hint}"


class NotJson(WfError, ValueError):
    """A value is not strict JSON; `where` names the place, as in `state.items[3].when`."""

    code = "not_json"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"{where}: {reason}.",
            hint="Only null, booleans, integers, finite numbers, text, arrays and objects with text keys are JSON.",
            details={"where": where, "reason": reason},
        )
        self.where = where
        self.reason = reason


class InvalidPath(WfError, ValueError):
    """A text is not a path of the plan language."""

    code = "invalid_path"


class InvalidTemplate(InvalidPath):
    """A template has a placeholder that does not end or does not hold a path."""

    code = "invalid_template"


class InvalidSchema(WfError, ValueError):
    """A JSON Schema cannot be used: no schema, a remote reference, or a pattern that has no linear-time match."""

    code = "invalid_schema"


class InvalidPlan(WfError, ValueError):
    """A plan does not validate; `issues` holds every issue found, as plain data."""

    code = "invalid_plan"

    def __init__(self, message: str, issues: Sequence[Mapping[str, Any]], *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, details={"issues": [dict(issue) for issue in issues]})
        self.issues = list(issues)


class StepFailed(WfError):
    """A step could not be carried out. `code` is that of the run's error record."""

    def __init__(self, code: str, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, details=details)
        self.code = code


class RunRefused(WfError):
    """The run does not allow this transition now. Nothing was changed."""

    code = "run_refused"


class SessionRefused(WfError):
    """The session does not allow this transition now. Nothing was changed."""

    code = "session_refused"


class InvalidInput(RunRefused, ValueError):
    """The workflow input does not fit the plan's input schema. No run was created."""

    code = "invalid_input"


class RunNotInterrupted(RunRefused):
    """No question of this run is open."""

    code = "run_not_interrupted"


class AmbiguousInterrupt(RunRefused):
    """Several questions are open and the answer names none."""

    code = "ambiguous_interrupt"


class StaleInterrupt(RunRefused, LookupError):
    """The named question is no longer open, or never was."""

    code = "stale_interrupt"


class InvalidResumeOutcome(RunRefused, ValueError):
    """The question does not offer this outcome."""

    code = "invalid_resume_outcome"


class InvalidResumePayload(RunRefused, ValueError):
    """The answer does not fit the question's schema."""

    code = "invalid_resume_payload"


class UnknownCall(RunRefused, SessionRefused, LookupError):
    """The run has no such call, or none that its driver may tell the end of; or the session has none."""

    code = "call_not_found"


class CallAlreadyCompleted(RunRefused, SessionRefused):
    """The call has ended, or its end is not for the outside to tell. What was told first stays."""

    code = "call_already_completed"


class InvalidResult(RunRefused, SessionRefused, ValueError):
    """What is told as a call's result cannot be one: its capability could not have given it."""

    code = "invalid_result"


class CallExpired(RunRefused, SessionRefused):
    """Nobody answered the call until its time had come. What is told now comes too late."""

    code = "call_expired"


class PersonRequired(RunRefused, PermissionError):
    """Only a person may answer this, through a channel that a model cannot use."""

    code = "person_required"


class InvalidPolicy(WfError, ValueError):
    """A call policy, as data, cannot be read; `issues` holds every issue as `{"where", "message"}`."""

    code = "invalid_policy"

    def __init__(self, issues: Sequence[Mapping[str, Any]]) -> None:
        told = "; ".join(f"{issue['where']}: {issue['message']}" for issue in issues)
        super().__init__(
            f"The call policy cannot be read: {told}",
            hint='A policy is {"default": DISPOSITION, "rules": [{"tool": NAME OR GLOB, "disposition": DISPOSITION}]}.',
            details={"issues": [dict(issue) for issue in issues]},
        )
        self.issues = list(issues)


class EnvelopeError(WfError, ValueError):
    """What an isolated worker printed is no answer to what it was asked. It ran: whether it did its work is unknown."""

    code = "envelope_invalid"

    def __init__(self, code: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class IllegalTransition(SessionRefused):
    """A call or a turn is not in a state for this: its driver asked for what is not to be done now."""

    code = "illegal_transition"


class WrongAnswerKind(RunRefused, SessionRefused, ValueError):
    """A result was told for a call that waits for an approval, or an approval for one that waits for a result."""

    code = "wrong_answer_kind"


class MaxTurnsReached(SessionRefused):
    """The model was asked as often as its agent allows, since the user spoke last."""

    code = "max_turns"


class BrokenHistory(SessionRefused):
    """A model may not be shown this history: a call has no result, or two, or a result has no call."""

    code = "history_broken"


class StateError(WfError):
    """A stored document cannot be read; it was left alone."""

    code = "state_corrupt"


class StateCorrupt(StateError, ValueError):
    """A stored document is damaged, truncated, or contradicts itself."""

    code = "state_corrupt"


class FormatTooNew(StateError):
    """A stored document was written by a newer version."""

    code = "state_version_unsupported"

    def __init__(self, *, document: str, found: int, supported: int) -> None:
        super().__init__(
            f"This {document} was written by a newer version (format {found}; this one reads up to {supported}).",
            hint="Upgrade wf-mcp before using it.",
            details={"document": document, "found": found, "supported": supported},
        )
        self.found = found
        self.supported = supported
