"""Going on with runs whose process is gone: which, and how often it is tried. How one run is taken over is `runs`."""

import logging
from collections.abc import Mapping
from functools import partial
from typing import NoReturn

import anyio

from wf_artifacts.errors import RunBusy
from wf_artifacts.runs.store import RunStore
from wf_core.errors import WfError
from wf_core.ids import RunId
from wf_mcp.execution.abandoned import Attempts, take_over_each
from wf_mcp.execution.runs import RunDriver

logger = logging.getLogger(__name__)

FIRST_LOOK_SECONDS = 0.5
"""How long after its start a server looks for abandoned runs: its client is answered before."""

LOOK_SECONDS = 15.0
"""How often it looks again: another server may end while this one goes on."""

MOST_ATTEMPTS = 4
"""How often one server tries to go on with one run unasked. Looking at the run tries it again."""


async def keep_taking_over(runs: RunDriver, store: RunStore) -> NoReturn:
    """Take abandoned runs over, now and again, for as long as a server serves. What goes wrong is logged."""
    attempts: Attempts[RunId] = Attempts(MOST_ATTEMPTS)
    await anyio.sleep(FIRST_LOOK_SECONDS)
    while True:
        try:
            found = await store.abandoned()
        except WfError as error:
            logger.warning("Abandoned runs cannot be looked for: %s", error)
        else:
            await attempts.take_over(found, runs.torn, partial(take_over, runs))
        await anyio.sleep(LOOK_SECONDS)


async def take_over(runs: RunDriver, run_ids: list[RunId]) -> Mapping[RunId, WfError]:
    """Go on with each of these runs as far as possible, and give those that are left, with the reason.

    One that another process takes over meanwhile is not among them.
    """
    return await take_over_each("run", run_ids, runs.take_over, busy=RunBusy)
