"""Waiting for a session: until it is put down here, or until it rests, whoever advances it."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import anyio

from wf_artifacts.errors import SessionBusy
from wf_core.ids import SessionId
from wf_mcp.execution.sessions.going import Going
from wf_mcp.execution.sessions.live import LiveSession
from wf_mcp.execution.sessions.means import SessionMeans

LOOK_AGAIN_SECONDS = 0.2
"""How often a session that another process advances is looked at while somebody waits for it."""


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """A session that somebody may want to wait for."""

    session_id: SessionId
    live: LiveSession | None = None
    """None where this process does not advance it."""


class Driver(Protocol):
    """What is asked of `driver` about a session that is waited for."""

    @property
    def means(self) -> SessionMeans: ...
    @property
    def going(self) -> Going: ...
    def handle(self, session_id: SessionId) -> SessionHandle: ...
    async def take_over(self, session_id: SessionId) -> SessionHandle: ...
    async def poke(self, session_id: SessionId) -> None: ...


async def put_down(driver: Driver, handle: SessionHandle) -> None:
    """Wait until nobody advances a session; it may go on at once.

    Raises:
        WfError: advancing it here ended; it stands as it was last stored.
    """
    if handle.live is None:
        while await driver.means.sessions.is_claimed(handle.session_id):  # noqa: ASYNC110  # no event crosses processes
            await anyio.sleep(LOOK_AGAIN_SECONDS)
        return
    await handle.live.wait()
    if handle.live.fault is not None:
        raise handle.live.fault


async def rested(driver: Driver, handle: SessionHandle) -> None:
    """Wait until a session rests: nobody advances it, and nobody is about to.

    A server takes it over where its process is gone, and goes on with it where something was delivered elsewhere.

    Raises:
        WfError: advancing it ended, or it cannot be taken over; it stands as it was last stored.
    """
    session_id, is_told = handle.session_id, False
    while True:
        await put_down(driver, handle)
        is_here = handle.live is not None
        was_open = await driver.going.decided(session_id)
        handle = driver.handle(session_id)
        if handle.live is not None:
            continue
        if is_here and not was_open:
            return
        if await driver.means.sessions.is_claimed(session_id):
            continue
        record = await driver.means.sessions.load_record(session_id)
        if record.status == "running":
            handle = await _taken_over(driver, session_id)
        elif not is_told and await driver.going.is_behind(record):
            is_told = True
            await driver.poke(session_id)
        else:
            return


async def _taken_over(driver: Driver, session_id: SessionId) -> SessionHandle:
    """Take over a session that nobody seems to hold. A command leaves that to a server, and looks again."""
    if driver.going.keeping:
        with suppress(SessionBusy):
            return await driver.take_over(session_id)
    await anyio.sleep(LOOK_AGAIN_SECONDS)
    return driver.handle(session_id)
