"""Holds a run by a short lease: `python -m tests.wf_artifacts.holder URL` says held, then writes when it is told to.

It says how that went: written, or lost.
"""

import sys
from datetime import timedelta

import anyio

from tests.wf_artifacts.databases import database_at
from tests.wf_artifacts.samples import checkpoint, following, record
from wf_artifacts.errors import ClaimLost
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage.owners import Lease

SHORT = Lease(duration=timedelta(seconds=1), heartbeat=timedelta(seconds=0.1))


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def hold(url: str) -> None:
    database = database_at(url)
    runs = SqlRuns(database, SHORT)
    begun = record()
    claim = await runs.claim(begun.run_id)
    say("held")
    sys.stdin.readline()
    moved = following(begun, entries=0, status="failed")
    try:
        await runs.commit(claim, moved, checkpoint=checkpoint(moved))
    except ClaimLost:
        say("lost")
    else:
        say("written")
    runs.close()
    database.close()


if __name__ == "__main__":
    anyio.run(hold, sys.argv[1])
