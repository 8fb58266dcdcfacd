"""Holds a session by a short lease: `python -m tests.wf_artifacts.sessions.holder URL`.

It says held, then writes when it is told to, and says how that went: written, or lost.
"""

import sys

import anyio

from tests.wf_artifacts.databases import database_at
from tests.wf_artifacts.holder import SHORT, say
from tests.wf_artifacts.sessions.samples import events, moved, session
from wf_artifacts.errors import SessionClaimLost
from wf_artifacts.sessions.sql import SqlSessions


async def hold(url: str) -> None:
    database = database_at(url)
    sessions = SqlSessions(database, SHORT)
    begun = session()
    claim = await sessions.claim(begun.session_id)
    say("held")
    sys.stdin.readline()
    try:
        await sessions.store(claim, moved(begun, status="failed"), events())
    except SessionClaimLost:
        say("lost")
    else:
        say("written")
    sessions.close()
    database.close()


if __name__ == "__main__":
    anyio.run(hold, sys.argv[1])
