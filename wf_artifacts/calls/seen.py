"""What this process knows of calls that it has looked at, so that looking again at one that still waits reads nothing.

It is known by a mark of what is stored, which changes with it: whatever another process stores is read.
"""

from collections.abc import Hashable
from datetime import datetime
from threading import Lock
from typing import Final, NamedTuple

from wf_artifacts.calls.models import Waiting, WaitingState

MOST: Final = 50_000
"""How many are known at most, of about 200 bytes each."""


class _Known(NamedTuple):
    mark: Hashable
    state: WaitingState
    expires_at: datetime | None


class Seen:
    """Knows the states of calls. Any thread may use it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[str, _Known] = {}
        self._turn = Lock()

    def state(self, token: str, mark: Hashable, now: datetime) -> WaitingState | None:
        """Give the state in which a call was seen under this mark; None where it has to be read, or expires."""
        known = self._known.get(token)
        if known is None or known.mark != mark:
            return None
        is_due = known.state == "open" and known.expires_at is not None and known.expires_at <= now
        return None if is_due else known.state

    def note(self, waiting: Waiting, mark: Hashable) -> None:
        """Remember a call as it was read; the mark is of what was stored before it was read, or at that instant."""
        with self._turn:
            if len(self._known) >= self._most and waiting.token not in self._known:
                del self._known[next(iter(self._known))]
            self._known[waiting.token] = _Known(mark, waiting.state, waiting.continuation.expires_at)
