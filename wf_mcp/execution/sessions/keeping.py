"""Going on with sessions by itself: those whose calls were answered elsewhere, and those whose process is gone.

What is delivered through this process is taken at once, by `driver`; here it is looked for what came another way.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import NoReturn

import anyio

from wf_artifacts.errors import SessionBusy
from wf_artifacts.storage.pages import every
from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_mcp.execution.abandoned import Attempts, take_over_each
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.going import tokens_of, waits

logger = logging.getLogger(__name__)

FIRST_LOOK_SECONDS = 0.5
"""How long after its start a server looks for sessions: its client is answered before."""

LOOK_SECONDS = 1.0
"""How often it is looked for what other processes delivered."""

LOOK_AROUND_SECONDS = 15.0
"""How often it is looked for sessions that other processes left, waiting or abandoned."""

THOROUGH = 20
"""Of so many looks around, one is at all sessions: also at those that have answered while a call was in doubt."""

SHARE = 10
"""Looking takes at most one part in so many of the time, however much there is to look at."""

MOST_ATTEMPTS = 4
"""How often one server tries to go on with one abandoned session unasked. Resuming it tries again."""


async def keep_going(driver: SessionDriver) -> NoReturn:
    """Go on with sessions, now and again, for as long as a server serves. What goes wrong is logged."""
    driver.going.keeping = True
    attempts: Attempts[SessionId] = Attempts(MOST_ATTEMPTS)
    await anyio.sleep(FIRST_LOOK_SECONDS)
    around_at = anyio.current_time()
    looks = 0
    while True:
        began = anyio.current_time()
        try:
            if began >= around_at:
                around_at = began + LOOK_AROUND_SECONDS
                await _look_around(driver, thorough=looks % THOROUGH == 0)
                looks += 1
                found = await driver.means.sessions.abandoned()
                await attempts.take_over(found, driver.torn, partial(take_over, driver))
            await look(driver)
        except WfError as error:
            logger.warning("Sessions cannot be looked for: %s", error)
        took = anyio.current_time() - began
        await anyio.sleep(max(LOOK_SECONDS, SHARE * took))


async def look(driver: SessionDriver) -> None:
    """Go on with the waiting sessions to which something was delivered.

    Raises:
        StoreUnavailable: it cannot be looked for.
    """
    waiting = dict(driver.going.waiting)
    owner = {token: session_id for session_id, tokens in waiting.items() for token in tokens}
    if not owner:
        return
    found = await driver.means.continuations.deliveries(owner, now=driver.means.clock.now())
    for session_id in dict.fromkeys(owner[one.token] for one in found):
        await driver.poke(session_id)


async def take_over(driver: SessionDriver, session_ids: list[SessionId]) -> Mapping[SessionId, WfError]:
    """Take each of these abandoned sessions over, and give those that are left, with the reason.

    One that another process takes over meanwhile is not among them.
    """
    return await take_over_each("session", session_ids, driver.take_over, busy=SessionBusy)


async def _look_around(driver: SessionDriver, *, thorough: bool = True) -> None:
    """Find the waiting sessions that are to go on by themselves, whoever put them to rest.

    Only where it is `thorough` those are found that have answered already, and what waits no more is forgotten: there
    are many that have answered.

    Raises:
        StoreUnavailable: they cannot be looked for.
    """
    known = set(driver.going.waiting)
    pages = partial(driver.means.sessions.list_sessions, principal=None, status=None if thorough else "waiting")
    found = {record.session_id: tokens_of(record) async for record in every(pages) if waits(record)}
    waiting = driver.going.waiting
    for session_id in known - found.keys() if thorough else ():
        waiting.pop(session_id, None)
    for session_id, tokens in found.items():
        # What this process put to rest meanwhile is newer than what was read.
        if not driver.advances(session_id) and (session_id in known or session_id not in waiting):
            waiting[session_id] = tokens
