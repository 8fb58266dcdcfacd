"""Sessions that go on by themselves: which of those that rest are to, and one try to go on with one.

When it is tried is the business of `driver`, for what is delivered through this process, and of `keeping`.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

import anyio
from anyio.abc import TaskGroup

from wf_artifacts.errors import SessionBusy
from wf_artifacts.sessions.models import SessionRecord
from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_mcp.execution.sessions.means import SessionMeans

logger = logging.getLogger(__name__)


class _Tried:
    """How often it is tried at the moment to go on with a session."""

    def __init__(self) -> None:
        self.number = 0
        self.ended = anyio.Event()


class Going:
    """The sessions at rest that this process is to go on with."""

    def __init__(self, means: SessionMeans, tasks: TaskGroup, resume: Callable[[SessionId], Awaitable[object]]) -> None:
        self.keeping = False
        """Whether this process goes on with sessions by itself at all: a server does, a command does not."""
        self.waiting: dict[SessionId, tuple[str, ...]] = {}
        """The tokens of sessions that wait, and are to go on when one of them is answered."""
        self._means = means
        self._tasks = tasks
        self._resume = resume
        self._left: dict[SessionId, datetime] = {}
        """Sessions that could not go on, and when each was stored as it is."""
        self._found: dict[SessionId, tuple[int, tuple[str, ...]]] = {}
        """Sessions for which something was found at their rest: how far each was, and for which tokens."""
        self._tried: dict[SessionId, _Tried] = {}
        """Sessions of which it is being found out whether they go on."""

    def rests(self, record: SessionRecord, *, stepped: bool) -> None:
        """Note that a session is put to rest here. One that was advanced by a step is not gone on with at once."""
        tokens = tokens_of(record)
        if waits(record):
            self.waiting[record.session_id] = tokens
        if self.keeping and record.auto and not stepped:
            self._try(record.session_id, partial(self._look_again, record, tokens))

    def go_on(self, session_id: SessionId) -> None:
        """Try to go on with a session, if it says so. Who asks does not wait for it, and hears of no failure."""
        if self.keeping:
            self._try(session_id, partial(self._go_on, session_id))

    async def decided(self, session_id: SessionId) -> bool:
        """Wait until it is found out whether a session goes on by itself, and tell whether that was open."""
        tried = self._tried.get(session_id)
        if tried is None:
            return False
        await tried.ended.wait()
        return True

    async def is_behind(self, record: SessionRecord) -> bool:
        """Tell whether something was delivered to a session at rest with which this process is to go on.

        Raises:
            StoreUnavailable: it cannot be told.
        """
        tokens = tokens_of(record)
        if not (self.keeping and tokens and waits(record)):
            return False
        return bool(await self._means.continuations.deliveries(tokens, now=self._means.clock.now()))

    def _try(self, session_id: SessionId, act: Callable[[], Awaitable[None]]) -> None:
        tried = self._tried.setdefault(session_id, _Tried())
        tried.number += 1

        async def end() -> None:
            try:
                await act()
            finally:
                tried.number -= 1
                if not tried.number:
                    del self._tried[session_id]
                    tried.ended.set()

        self._tasks.start_soon(end)

    async def _look_again(self, record: SessionRecord, tokens: tuple[str, ...]) -> None:
        """Go on where something was delivered between the last look and the end of the claim."""
        try:
            found = await self._means.continuations.deliveries(tokens, now=self._means.clock.now())
        except WfError as error:
            logger.warning("It cannot be looked for what was delivered to %s: %s", record.session_id, error)
        else:
            if not found:
                self._found.pop(record.session_id, None)
            elif not self._is_news(record, tuple([waiting.token for waiting in found])):
                logger.warning("What was delivered to the session %s is not taken by it", record.session_id)
                return
            if found or _can_go_on(record):
                await self._go_on(record.session_id, ready_too=True)

    def _is_news(self, record: SessionRecord, tokens: tuple[str, ...]) -> bool:
        """Tell whether that was found for the first time: a session that does not get on with it is left to rest."""
        found = (record.position, tokens)
        if self._found.get(record.session_id) == found:
            return False
        self._found[record.session_id] = found
        return True

    async def _go_on(self, session_id: SessionId, *, ready_too: bool = False) -> None:
        stored_at, tokens = None, ()
        try:
            record = await self._means.sessions.load_record(session_id)
            stored_at = record.updated_at
            tokens = self.waiting.pop(session_id, ())
            if waits(record) or (record.auto and ready_too and _can_go_on(record)):
                await self._resume(session_id)
            self._left.pop(session_id, None)
        except SessionBusy:
            # Who holds it may be a command, which does not go on when it lets go: look again.
            self.waiting.setdefault(session_id, tokens)
        except WfError as error:
            if self._left.get(session_id) != stored_at or stored_at is None:
                logger.warning("The session %s is left as it is: %s", session_id, error)
            if stored_at is not None:
                self._left[session_id] = stored_at
        except Exception:
            logger.exception("Going on with the session %s failed", session_id)


def waits(record: SessionRecord) -> bool:
    """Tell whether a session is to go on by itself when a call is answered: one that has answered in doubt is, too."""
    return record.auto and (record.status == "waiting" or (record.status == "answered" and bool(record.pending)))


def tokens_of(record: SessionRecord) -> tuple[str, ...]:
    """Give the tokens of the calls that the outside can answer."""
    return tuple(call.token for call in record.pending if call.token is not None)


def _can_go_on(record: SessionRecord) -> bool:
    """Tell whether a session at rest has something to do that did not fail the last time."""
    return record.status == "ready" and record.error is None
