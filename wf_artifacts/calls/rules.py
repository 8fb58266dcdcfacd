"""What every store of continuations makes of what it is told: pure, from what is stored to what is to be stored."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, TypeVar

from wf_artifacts.calls.models import Continuation, Delivery, DeliveryAnswer, Waiting, WaitingState
from wf_artifacts.errors import CallNotFound, InvalidId
from wf_artifacts.storage.identifiers import require_id
from wf_artifacts.storage.pages import Damaged, Page

T = TypeVar("T")

OPEN: Final = "open calls"
"""The list of open continuations, that its cursors belong to."""

ALL: Final = "calls"
"""The list of all continuations, that its cursors belong to."""

CACHE: Final = "cached results"
"""The list of cached results, that its cursors belong to."""

TOLD: Final[frozenset[WaitingState]] = frozenset({"delivered", "expired"})
"""What `deliveries` gives."""

_TOKEN = re.compile(r"call_[0-9A-Za-z_]{1,100}")
_PLACE = re.compile(r"[0-9]{15}-.*")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def is_token(text: str) -> bool:
    """Tell whether a text may be a token, and so name a file: letters, digits and underscores behind `call_`."""
    return _TOKEN.fullmatch(text) is not None


def require_storable(continuation: Continuation) -> None:
    """Accept a continuation that can be found again.

    Raises:
        InvalidId: its token cannot be one, or the id of its session.
    """
    if not is_token(continuation.token):
        raise InvalidId("the token of a call", continuation.token)
    require_id("a session", continuation.session_id)


def putting(earlier: Waiting | None, continuation: Continuation) -> Waiting:
    """Give what is to be stored: the earlier one itself where it stays.

    Raises:
        ValueError: the token stands for another call.
    """
    fresh = Waiting(continuation=continuation)
    if earlier is None:
        return fresh
    if _whose(earlier.continuation) != _whose(continuation):
        raise ValueError(f"the token {continuation.token} stands for another call")
    if continuation.kind == "in_doubt" and (
        earlier.state == "closed" or (earlier.state == "open" and earlier.continuation.kind != "in_doubt")
    ):
        return fresh
    if continuation.kind == "callee" and earlier.state == "closed":
        return fresh
    if _tells_why(earlier, continuation):
        known = earlier.continuation.model_copy(update={"reason": continuation.reason})
        return earlier.model_copy(update={"continuation": known})
    return earlier


def taken(token: str) -> ValueError:
    """Make the error that says that nothing is restored over what there is."""
    return ValueError(f"the token {token} is taken")


def delivering(
    waiting: Waiting, delivery: Delivery, principal: str | None, now: datetime
) -> tuple[DeliveryAnswer, Waiting]:
    """Give the answer to a delivery, and what is to be stored: the same where nothing changes."""
    if not belongs(waiting, principal):
        return "unknown", waiting
    waiting = at(waiting, now)
    match waiting.state:
        case "open":
            delivered = {"state": "delivered", "delivery": delivery, "ended_at": now}
            return "applied", waiting.model_copy(update=delivered)
        case "expired":
            return "expired", waiting
        case _:
            return "already_completed", waiting


def closing(waiting: Waiting, now: datetime) -> tuple[bool, Waiting]:
    """Tell whether it is closed now, and give what is to be stored: the same where nothing changes."""
    waiting = at(waiting, now)
    if waiting.state == "closed":
        return True, waiting
    used_up = waiting.delivery is not None and waiting.delivery.kind != "result"
    if waiting.state == "open" or used_up:
        return True, waiting.model_copy(update={"state": "closed", "ended_at": now})
    return False, waiting


def expiring(waiting: Waiting, now: datetime) -> tuple[Waiting, Waiting]:
    """Give a continuation as it is at a moment, as the answer and as what is to be stored."""
    told = at(waiting, now)
    return told, told


def at(waiting: Waiting, now: datetime) -> Waiting:
    """Give a continuation as it is at a moment: the same, unless its time has come."""
    if not waiting.is_due(now):
        return waiting
    return waiting.model_copy(update={"state": "expired", "ended_at": waiting.continuation.expires_at})


def belongs(waiting: Waiting, principal: str | None) -> bool:
    """Tell whether a principal may know of it; None may know of all."""
    return principal in {None, waiting.continuation.principal}


def require_found(waiting: Waiting | None, token: str, principal: str | None) -> Waiting:
    """Accept a continuation that the principal may know of.

    Raises:
        CallNotFound: there is none.
    """
    if waiting is None or not belongs(waiting, principal):
        raise CallNotFound(token)
    return waiting


def place_of(continuation: Continuation) -> str:
    """Name a place in the list of open ones: places sort by the time of creation, then by token."""
    return f"{milliseconds(continuation.created_at):015}-{continuation.token}"


def milliseconds(moment: datetime) -> int:
    """Count the whole milliseconds since 1970."""
    return (moment - _EPOCH) // _MILLISECOND


def is_place(text: str) -> bool:
    """Tell whether `place_of` can have made a text."""
    return _PLACE.fullmatch(text) is not None and is_token(token_at(text))


def token_at(place: str) -> str:
    """Give the token that stands at a place."""
    return place.partition("-")[2]


def by_token(page: Page[T], token: Callable[[str], str] = token_at) -> Page[T]:
    """Name what is damaged in a page by its token instead of its place."""
    damaged = tuple(Damaged(token(one.identifier), one.error) for one in page.damaged)
    return Page(page.items, page.next_cursor, damaged)


def oldest_first(found: list[Waiting]) -> list[Waiting]:
    return sorted(found, key=lambda waiting: place_of(waiting.continuation))


def principal_digest(principal: str) -> bytes:
    """Stand for a principal, which may be any text, where it is looked up.

    Not `storage.digests.principal_digest`, which is over its JSON: rows and folders of calls have been named by this.
    """
    return sha256(principal.encode("utf-8", "surrogatepass")).digest()


def key_digest(key: str) -> str:
    """Stand for the key of a cached result, which may be any text, where it is looked up."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _tells_why(earlier: Waiting, continuation: Continuation) -> bool:
    """Tell whether it is known only now what the callee of a call waits for: it was announced before it was asked."""
    kinds = {earlier.continuation.kind, continuation.kind}
    is_open = earlier.state == "open" and kinds == {"callee"}
    return is_open and continuation.reason not in {None, "", earlier.continuation.reason}


def _whose(continuation: Continuation) -> tuple[str, str, str]:
    """Say which call a continuation is of."""
    return continuation.principal, continuation.session_id, continuation.call_id
