"""What the operations on sessions answer; see `models` for what all answers share."""

from typing import Any, Literal

from wf_artifacts.sessions.models import SessionStatus
from wf_mcp.operations.answers import Answer, Diagnostic, JsonObject, Words
from wf_mcp.operations.models import PendingCall


class SessionErrorView(Answer):
    """Why a session ended without an answer, or why its model could not be asked."""

    code: str
    message: Words
    hint: Words | None = None
    """What can be done about it."""


class UsageView(Answer):
    """Tokens of all answers so far, as the model's vendor counts them."""

    input_tokens: int
    output_tokens: int


class SessionSummary(Answer):
    """Where a session stands and what can be done next."""

    session_id: str | None
    """None when no session was created (`unrunnable`)."""
    status: Literal[SessionStatus, "blocked", "unrunnable"]
    """`ready`: the model can be asked. `waiting`: for the results of calls. `blocked`: something it needs is gone."""
    agent: str
    answer: str | None = None
    error: SessionErrorView | None = None
    turns: int = 0
    pending_calls: list[PendingCall] = []
    """Every call that the outside can answer, in call order."""
    queued_prompts: list[Any] = []
    """What the user said and the model has not been told: it is the next that it hears once the calls are answered."""
    usage: UsageView | None = None
    diagnostics: list[Diagnostic] = []
    parent: str | None = None
    """The session or the run that waits for the answer."""
    created_at: str | None = None
    updated_at: str | None = None
    next_actions: list[str] = []


class TurnView(Answer):
    """One turn of a conversation. Longer values than 4 KiB are shortened, as in a run's trace."""

    id: str
    by: Literal["user", "model"]
    text: Any = None
    calls: list[JsonObject] = []
    """What the model asks for: `{name, arguments, id}`, by its own ids. While results are missing, the calls as they
    are: `{call_id, name, arguments, state, rule, result}`."""
    results: list[JsonObject] = []
    """What the model was given: `{call_id, name, result, held}`, one for each call, in call order."""
    notices: list[JsonObject] = []
    """What came later of calls that the model was told to wait for, in the form of `results`."""


class SessionDetail(SessionSummary):
    """A session with the last turns of its conversation."""

    conversation: list[TurnView] = []
    """The oldest first."""


class SessionRow(Answer):
    """One session of a list."""

    session_id: str
    status: SessionStatus
    agent: str
    turns: int
    pending: int
    """How many calls have no result yet."""
    error_code: str | None
    created_at: str
    updated_at: str


class SessionList(Answer):
    """Sessions, newest first."""

    sessions: list[SessionRow]
    next_cursor: str | None
    diagnostics: list[Diagnostic] = []
    """Stored sessions that cannot be read."""


class DeletedSession(Answer):
    """What was deleted."""

    session_id: str
