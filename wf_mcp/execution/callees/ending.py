"""Ending the callees that nobody waits for any more, however deep: at the end of their caller, and now and again.

What was in flight is told to stop; what was done stays shown. Which these are is `orphans`.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

import anyio

from wf_artifacts.errors import RunBusy, RunNotFound, SessionBusy, SessionNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.stores import Stores
from wf_core.errors import WfError
from wf_core.ids import RunId, SessionId, is_session_id
from wf_mcp.execution.callees.family import AGENTS, WORKFLOWS
from wf_mcp.execution.callees.orphans import Called, under_way, why_unwanted
from wf_mcp.execution.runs import RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver

logger = logging.getLogger(__name__)

FIRST_LOOK_SECONDS = 0.5
"""How long after its start a server looks for callees that nobody waits for: its client is answered before."""

LOOK_SECONDS = 15.0
"""How often it looks again: another server may end while this one goes on."""

SHARE = 20
"""Looking for callees takes at most one part in so many of the time, however much there is to look at."""

BUSY_SECONDS = 0.5
"""How long after another process was at them callees are looked at again."""

MOST_TRIES = 20

ANSWERED = "A person answered the call in its place."


async def keep_ending_callees(end_callees: Callable[[], Awaitable[None]]) -> NoReturn:
    """End what was called and is not wanted any more, now and again: its caller's process may have died before that."""
    await anyio.sleep(FIRST_LOOK_SECONDS)
    while True:
        began = anyio.current_time()
        try:
            await end_callees()
        except WfError as error:
            logger.warning("Callees that nobody waits for cannot be looked for: %s", error)
        await anyio.sleep(max(LOOK_SECONDS, SHARE * (anyio.current_time() - began)))


class Ending:
    """Ends callees, in the sessions and runs of one program."""

    def __init__(self, stores: Stores, runs: RunDriver, sessions: SessionDriver) -> None:
        self._stores = stores
        self._runs = runs
        self._sessions = sessions
        self._turn = anyio.Lock()
        """Held by who ends callees: the next who asks for it hears that it is done once it is, down to the last."""

    async def callees_of(self, caller: str) -> bool:
        """End what a session or a run called and does not wait for, and what that called; tell whether all is done.

        What cannot be ended is left as it is, and logged. Not all is done where another process is at one of them.
        """
        try:
            return not await self._may_call(caller) or await self._end({caller})
        except WfError as error:
            logger.warning("What %s called cannot be looked for: %s", caller, error)
            return False

    async def callees_of_soon(self, caller: str) -> None:
        """Do the same, and again for a while where another process is at one of them. `all_callees` does the rest."""
        for _ in range(MOST_TRIES):
            if await self.callees_of(caller):
                return
            await anyio.sleep(BUSY_SECONDS)

    async def instead_of(self, callee: SessionId | RunId) -> bool:
        """End a callee in whose place somebody answered, and what that called; tell whether all is done."""
        try:
            record = await self._load(callee)
            if record is None:
                return True
            called = Called(record, "")
            return await self._end_one(called, ANSWERED) and await self.callees_of(callee)
        except WfError as error:
            logger.warning("%s is left as it is, although it was answered in its place: %s", callee, error)
            return False

    async def all_callees(self) -> None:
        """End every callee that nobody waits for: what a process left that ended before it came to that.

        Raises:
            StoreUnavailable: they cannot be looked for.
        """
        await self._end(None)

    async def _may_call(self, caller: str) -> bool:
        """Tell whether there is anything to look for, which is a look at all that has not ended."""
        if is_session_id(caller):
            return True
        called = (await self._stores.runs.load_environment(RunId(caller))).capabilities.values()
        return any(pinned.source in {AGENTS, WORKFLOWS} for pinned in called)

    async def _load(self, callee: SessionId | RunId) -> SessionRecord | RunRecord | None:
        """Give what a callee is at; None where there is none, or its user has gone on with it."""
        try:
            if is_session_id(callee):
                session = await self._stores.sessions.load_record(SessionId(callee))
                return None if session.parent is None else session
            return await self._stores.runs.load(RunId(callee))
        except (RunNotFound, SessionNotFound):
            return None

    async def _end(self, callers: set[str] | None) -> bool:
        """End the callees of these callers, or of all, and those of the ones that were ended."""
        async with self._turn:
            return await self._end_level_by_level(callers)

    async def _end_level_by_level(self, callers: set[str] | None) -> bool:
        done, tried = True, set[str]()
        while True:
            found = [
                called
                async for called in under_way(self._stores)
                if called.id not in tried and (callers is None or called.caller in callers)
            ]
            unwanted = [(called, why) for called in found if (why := await self._why(called)) is not None]
            for called, why in unwanted:
                tried.add(called.id)
                done = await self._end_one(called, why) and done
            if not unwanted:
                return done
            if callers is not None:
                callers = callers | {called.id for called, _ in unwanted}

    async def _why(self, called: Called) -> str | None:
        try:
            return await why_unwanted(self._stores, called)
        except WfError as error:
            logger.warning("It cannot be told whether anybody waits for %s: %s", called.id, error)
            return None

    async def _end_one(self, called: Called, why: str) -> bool:
        """End a callee, and tell whether that is done or will never be."""
        try:
            match called.record:
                case SessionRecord(session_id=session_id):
                    await self._sessions.end(session_id, {"code": "cancelled", "message": why})
                case RunRecord(run_id=run_id):
                    await self._runs.cancel(run_id, reason=why)
        except (RunBusy, SessionBusy):
            return False
        except WfError as error:
            logger.warning("%s is left as it is, although nobody waits for it: %s", called.id, error)
        return True
