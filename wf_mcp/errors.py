"""What an error looks like from outside, and what each code means to a shell and to HTTP.

Owns the one table from error code to exit status and HTTP status. The errors themselves belong to the packages that
raise them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeVar, cast

from wf_core.errors import WfError
from wf_core.jsonvalue import JsonValue, storable

E = TypeVar("E", bound=BaseException)

INTERNAL_ERROR = "internal_error"

LONGEST_WORD: Final = 200
"""Characters of an id, a path or another word that a message repeats."""

LONGEST_TEXT: Final = 2000
"""Characters of a text in an error."""

MOST_ITEMS: Final = 100
"""Items of a list in an error."""

_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


class InvalidArgument(WfError, ValueError):
    """An argument of an operation is missing, unknown, of the wrong type or out of range. Nothing was done."""

    code = "invalid_argument"


class TooLarge(WfError, ValueError):
    """A value is longer than the configured bound. Nothing was stored of it."""

    code = "too_large"

    def __init__(self, what: str, *, size: int, limit: int) -> None:
        super().__init__(
            f"{what} has {size} bytes as compact JSON; at most {limit} are taken.",
            hint="Pass a reference to the data instead of the data, or raise `max_bytes` in wf.json.",
            details={"bytes": size, "max_bytes": limit},
        )
        self.size = size
        self.limit = limit


class RunBlocked(WfError):
    """What the run was started with is not what there is now. The run was left as it was."""

    code = "run_blocked"

    def __init__(self, run_id: str, diagnostics: Sequence[Mapping[str, Any]]) -> None:
        reasons = " ".join(str(diagnostic["message"]) for diagnostic in diagnostics)
        super().__init__(
            f"The run {run_id} is blocked: {reasons}",
            hint="Bring back what it was started with, then answer again; the question stays open. "
            f"validate_run(run_id={run_id!r}) says whether it is ready.",
            details={"diagnostics": [dict(diagnostic) for diagnostic in diagnostics]},
        )
        self.run_id = run_id
        self.diagnostics = list(diagnostics)


class ExitStatus(IntEnum):
    """How the command line ends."""

    DONE = 0
    FAILED = 1
    """The run, the session or the call failed."""
    USAGE = 2
    """Usage or invalid input."""
    WAITING = 3
    """It waits for an answer."""
    BLOCKED = 4
    """Blocked or unrunnable, or the store cannot be used: something around this program is to be put right first."""
    BUSY = 5
    """Another process is at it."""
    FAULT = 70
    """Our fault, or what is stored is damaged."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an error code means to a caller that is not a person."""

    exit_status: ExitStatus
    http_status: int


_FAULT = Meaning(ExitStatus.FAULT, 500)

MEANINGS: Mapping[str, Meaning] = {
    # What the caller said is wrong.
    "invalid_argument": Meaning(ExitStatus.USAGE, 400),
    "invalid_config": Meaning(ExitStatus.USAGE, 400),
    "invalid_path": Meaning(ExitStatus.USAGE, 400),
    "invalid_schema": Meaning(ExitStatus.USAGE, 400),
    "invalid_template": Meaning(ExitStatus.USAGE, 400),
    "not_json": Meaning(ExitStatus.USAGE, 400),
    "invalid_input": Meaning(ExitStatus.USAGE, 422),
    "invalid_plan": Meaning(ExitStatus.USAGE, 422),
    "invalid_agent": Meaning(ExitStatus.USAGE, 422),
    "invalid_policy": Meaning(ExitStatus.USAGE, 422),
    "invalid_runner": Meaning(ExitStatus.USAGE, 422),
    "invalid_result": Meaning(ExitStatus.USAGE, 422),
    "invalid_resume_payload": Meaning(ExitStatus.USAGE, 422),
    "invalid_resume_outcome": Meaning(ExitStatus.USAGE, 422),
    "input_invalid": Meaning(ExitStatus.USAGE, 422),
    "too_large": Meaning(ExitStatus.USAGE, 413),
    # What the caller named does not exist.
    "run_not_found": Meaning(ExitStatus.USAGE, 404),
    "artifact_not_found": Meaning(ExitStatus.USAGE, 404),
    "deployment_not_found": Meaning(ExitStatus.USAGE, 404),
    "capability_not_found": Meaning(ExitStatus.USAGE, 404),
    "source_not_found": Meaning(ExitStatus.USAGE, 404),
    "agent_not_found": Meaning(ExitStatus.USAGE, 404),
    "session_not_found": Meaning(ExitStatus.USAGE, 404),
    "call_not_found": Meaning(ExitStatus.USAGE, 404),
    # What exists does not allow it.
    "ambiguous_interrupt": Meaning(ExitStatus.USAGE, 409),
    "stale_interrupt": Meaning(ExitStatus.USAGE, 409),
    "run_not_interrupted": Meaning(ExitStatus.USAGE, 409),
    "call_already_completed": Meaning(ExitStatus.USAGE, 409),
    "call_expired": Meaning(ExitStatus.USAGE, 409),
    "wrong_answer_kind": Meaning(ExitStatus.USAGE, 409),
    "session_refused": Meaning(ExitStatus.USAGE, 409),
    "session_exists": Meaning(ExitStatus.USAGE, 409),
    "artifact_in_use": Meaning(ExitStatus.USAGE, 409),
    "session_in_use": Meaning(ExitStatus.USAGE, 409),
    "deployment_exists": Meaning(ExitStatus.USAGE, 409),
    "idempotency_conflict": Meaning(ExitStatus.USAGE, 409),
    "call_deferred": Meaning(ExitStatus.WAITING, 409),
    "person_required": Meaning(ExitStatus.WAITING, 403),
    "run_blocked": Meaning(ExitStatus.BLOCKED, 409),
    "session_blocked": Meaning(ExitStatus.BLOCKED, 409),
    "agent_unrunnable": Meaning(ExitStatus.BLOCKED, 409),
    "runner_missing": Meaning(ExitStatus.BLOCKED, 409),
    "source_disabled": Meaning(ExitStatus.BLOCKED, 503),
    "source_unavailable": Meaning(ExitStatus.BLOCKED, 503),
    "state_version_unsupported": Meaning(ExitStatus.BLOCKED, 409),
    "run_busy": Meaning(ExitStatus.BUSY, 409),
    "session_busy": Meaning(ExitStatus.BUSY, 409),
    "store_busy": Meaning(ExitStatus.BUSY, 409),
    # A capability that was called did not deliver.
    "envelope_invalid": Meaning(ExitStatus.FAILED, 502),
    "envelope_missing": Meaning(ExitStatus.FAILED, 502),
    "envelope_noise": Meaning(ExitStatus.FAILED, 502),
    "envelope_repeated": Meaning(ExitStatus.FAILED, 502),
    "envelope_token_mismatch": Meaning(ExitStatus.FAILED, 502),
    "capability_error": Meaning(ExitStatus.FAILED, 502),
    "connection_lost": Meaning(ExitStatus.FAILED, 502),
    "output_invalid": Meaning(ExitStatus.FAILED, 502),
    "timeout": Meaning(ExitStatus.FAILED, 504),
    "isolation_failed": Meaning(ExitStatus.FAILED, 502),
    "isolation_output_invalid": Meaning(ExitStatus.FAILED, 502),
    "isolation_output_too_large": Meaning(ExitStatus.FAILED, 502),
    "isolation_timeout": Meaning(ExitStatus.FAILED, 504),
    "isolation_unavailable": Meaning(ExitStatus.BLOCKED, 503),
    # A model that was asked did not answer, or may not be asked any more.
    "max_turns": Meaning(ExitStatus.FAILED, 409),
    "model_answer_cut": Meaning(ExitStatus.FAILED, 502),
    "model_answer_invalid": Meaning(ExitStatus.FAILED, 502),
    "model_refused": Meaning(ExitStatus.FAILED, 502),
    "model_unavailable": Meaning(ExitStatus.FAILED, 503),
    "model_unusable": Meaning(ExitStatus.BLOCKED, 503),
    # The machine.
    "store_unavailable": Meaning(ExitStatus.BLOCKED, 503),
    "store_full": Meaning(ExitStatus.BLOCKED, 507),
    # What is stored, or this program.
    "state_corrupt": _FAULT,
    "illegal_transition": _FAULT,
    "history_broken": _FAULT,
    INTERNAL_ERROR: _FAULT,
}


def meaning(code: str) -> Meaning:
    """Say what `code` means. A code that a capability chose itself is its failure."""
    return MEANINGS.get(code, Meaning(ExitStatus.FAILED, 502))


def first_error(error: E | BaseExceptionGroup[E]) -> E:
    """Give the first error inside nested groups of errors: what their tasks died of."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[E]", error).exceptions[0]
    return error


def describe(error: Exception, redact: Callable[[JsonValue], JsonValue] = lambda value: value) -> dict[str, Any]:
    """Give what may be shown of `error`: `{"code", "message", "hint", "details"}`, through `redact`.

    Of what the caller passed it repeats the beginning alone. Of an error that is none of ours nothing is shown: its
    text may hold a path or a secret. The caller logs it.
    """
    if not isinstance(error, WfError):
        return {
            "code": INTERNAL_ERROR,
            "message": "Something went wrong inside wf-mcp.",
            "hint": "The log of the server on stderr says more. The stored runs are untouched.",
            "details": {},
        }
    # What is cut could begin a secret that is not recognized any more.
    shown: Any = redact({"message": error.message, "hint": error.hint, "details": error.details})
    return {
        "code": error.code,
        "message": abridge(shown["message"]),
        "hint": None if shown["hint"] is None else abridge(shown["hint"]),
        "details": _cut_all(shown["details"]),
    }


def abridge(message: str) -> str:
    """Cut a message that is too long to be read, and the words in it that are."""
    return cut(_LONG_WORD.sub(lambda word: f"{word[0][:LONGEST_WORD]}…", message))


def cut(text: str) -> str:
    """Cut a text that is too long to be shown with an error, and give what is no character as `?`."""
    text = storable(text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _cut_all(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return cut(value)
        case list():
            return [_cut_all(item) for item in value[:MOST_ITEMS]]
        case dict():
            return {cut(key): _cut_all(item) for key, item in value.items()}
        case _:
            return value
