"""What can keep a session from going on, and a delivery from being taken."""

from collections.abc import Mapping, Sequence
from typing import Any

from wf_artifacts.errors import SessionBusy
from wf_core import errors
from wf_core.errors import CallAlreadyCompleted, WfError


class SessionBlocked(WfError):
    """What the session was started with is not what there is now. The session was left as it was."""

    code = "session_blocked"

    def __init__(self, session_id: str, diagnostics: Sequence[Mapping[str, Any]]) -> None:
        reasons = " ".join(str(diagnostic["message"]) for diagnostic in diagnostics)
        super().__init__(
            f"The session {session_id} is blocked: {reasons}",
            hint="Bring back what it was started with, then resume it; its calls wait as they did.",
            details={"session_id": session_id, "diagnostics": [dict(diagnostic) for diagnostic in diagnostics]},
        )
        self.session_id = session_id
        self.diagnostics = list(diagnostics)


def say_how_to_wait(busy: SessionBusy) -> None:
    """Say in the hint what can be done about a session that somebody is at: whoever wants to stop it needs to know."""
    asked = f"inspect_session(session_id={busy.session_id!r}, wait_seconds=25)"
    busy.hint = (
        f"{asked} waits until it rests: its model has answered, or its calls wait. To stop it before that, end the "
        "client whose wf-mcp server advances it: then it can be paused or deleted here."
    )


class SessionInUse(WfError):
    """Who called the session waits for its answer, and would have its calls made again without it."""

    code = "session_in_use"

    def __init__(self, session_id: str, kind: str, caller: str) -> None:
        super().__init__(
            f"The {kind} {caller} waits for the session {session_id}, which was not deleted.",
            hint=f"Let it end, or end what waits for it first: wf pending shows the call of {caller}.",
            details={"session_id": session_id, "kind": kind, "caller": caller},
        )


class AgentUnrunnable(WfError):
    """The agent cannot be started as it is. No session was created."""

    code = "agent_unrunnable"

    def __init__(self, slug: str, diagnostics: Sequence[Mapping[str, Any]]) -> None:
        reasons = " ".join(str(diagnostic["message"]) for diagnostic in diagnostics)
        super().__init__(
            f"The agent {slug} cannot be started: {reasons}",
            hint="Its `tools` name what is not there, or cannot be reached; list_capabilities() shows what there is.",
            details={"diagnostics": [dict(diagnostic) for diagnostic in diagnostics]},
        )
        self.diagnostics = list(diagnostics)


class SessionAdvancingFailed(WfError):
    """Advancing a session ended on a fault of ours. The session stands as it was last stored."""

    code = "internal_error"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"Something went wrong inside wf-mcp while it advanced the session {session_id}.",
            hint=f"It stands as it was last stored: inspect_session(session_id={session_id!r}). "
            "The log on stderr says more.",
            details={"session_id": session_id},
        )


class RunnerMissing(WfError):
    """The session's agent has no runner for its isolated calls. They wait as they did, and can be completed by hand."""

    code = "runner_missing"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"There is no runner for the isolated calls of the session {session_id}.",
            hint="Name a `runner` in the agent file and start a new session, or complete the calls by their tokens.",
            details={"session_id": session_id},
        )


class CallAnswered(CallAlreadyCompleted):
    """The call has its answer, or is carried out already. What was delivered first stays."""

    def __init__(self, token: str) -> None:
        super().__init__(
            f"The call {token} has been answered already, or is carried out.",
            hint="What was delivered first stays. list_pending shows the calls that wait.",
            details={"token": token},
        )


class CallExpired(errors.CallExpired):
    """The call waited for its answer until its time had come. Nothing was delivered."""

    def __init__(self, token: str) -> None:
        super().__init__(
            f"The call {token} has expired.",
            hint="Nothing can be delivered to it any more; the model is told so.",
            details={"token": token},
        )
