"""What the outside delivers to a session: results, approvals, and a person's word about what is in doubt."""

from collections.abc import Sequence

from wf_core.sessions.deliveries import Delivered, Delivery, check_delivery
from wf_core.sessions.events import Woken
from wf_core.sessions.finding import open_calls
from wf_core.sessions.journal import record
from wf_core.sessions.models import Session
from wf_core.sessions.storable import require_result


def wake_session(session: Session, deliveries: Sequence[tuple[str, Delivery]]) -> list[str]:
    """Place what was delivered, all of it or nothing, and give the tokens for which there is no open call (any more).

    Of several deliveries for one token the first counts; the others are unused.

    Raises:
        WrongAnswerKind, InvalidResult: nothing was changed.
    """
    waiting = {call.continuation_token: call for call in open_calls(session) if call.state in ("deferred", "in_doubt")}
    used: list[tuple[str, Delivery]] = []
    unused: list[str] = []
    for token, delivery in deliveries:
        call = waiting.pop(token, None)
        if call is None:
            unused.append(token)
            continue
        check_delivery(call, delivery)
        if isinstance(delivery, Delivered):
            require_result(delivery.result)
        used.append((call.id, delivery))
    if used:
        record(session, Woken(tuple(used)))
    return unused
