"""What becomes of a session's calls: begun, ended, deferred, doubted, released, expired.

A call whose end was the last one missing turns the partial turn into a user turn; one that the model was told to wait
for becomes a notice.
"""

from collections.abc import Sequence

from wf_core.calls.results import ToolResult
from wf_core.jsonvalue import storable
from wf_core.sessions.events import Begun, Completed, Deferred, Doubted, Expired, Released
from wf_core.sessions.journal import record
from wf_core.sessions.models import Session
from wf_core.sessions.storable import require_result
from wf_core.sessions.tokens import token_of


def begin(session: Session, call_ids: Sequence[str]) -> None:
    """Note that these calls are about to be made; store that first where they may not be repeated. ready -> running.

    Raises:
        SessionRefused: one of its kinds, for the first call that is not ready; none has begun.
    """
    record(session, Begun(tuple(call_ids)))


def complete(session: Session, call_id: str, result: ToolResult) -> None:
    """Take a call's result: from a ready (a cache knew it), running, deferred or doubtful call. `error` fails it.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    require_result(result)
    record(session, Completed(call_id, result))


def defer(session: Session, call_id: str, *, token: str | None = None, reason: str | None = None) -> str:
    """Leave a ready call to the outside, and give the token by which it is answered: `token_of` unless told another.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    given = token_of(session, call_id) if token is None else token
    record(session, Deferred(call_id, given, None if reason is None else storable(reason)))
    return given


def doubt(session: Session, call_id: str, reason: str) -> None:
    """Let a person say what became of a deferred call whose callee is not there any more. deferred -> in_doubt.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    record(session, Doubted(call_id, storable(reason)))


def release(session: Session, call_id: str) -> None:
    """Take a deferred call back, to carry it out here. deferred -> ready, `released`.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    record(session, Released(call_id))


def expire(session: Session, call_id: str) -> None:
    """Note that nobody answered a deferred call in time. deferred -> expired, with a result that says so.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    record(session, Expired(call_id))
