"""Kills a process at every moment of a story of sessions: `python -m tests.wf_artifacts.sessions.crashes FOLDER URL`.

As `tests.wf_artifacts.crashes` does with runs.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.wf_artifacts.crashes import Story, tell
from tests.wf_artifacts.sessions.samples import HEADER, events, moved, new_session_id, session
from wf_artifacts.errors import SessionExists
from wf_artifacts.sessions.models import SESSION_RECORD, SessionRecord
from wf_artifacts.stores import Stores
from wf_core.ids import SessionId

FIRST = session(new_session_id(1), position=2, status="running")
SECOND = session(new_session_id(2))


async def create_first(stores: Stores) -> None:
    await (await stores.sessions.create(FIRST, HEADER, events(2))).release()


async def create_second(stores: Stores) -> None:
    await (await stores.sessions.create(SECOND, HEADER)).release()


async def store_synced(stores: Stores) -> None:
    await store(stores, 3, sync=True, status="running")


async def store_unsynced(stores: Stores) -> None:
    await store(stores, 1, sync=False, status="waiting", pending=({"call_id": "c", "name": "n", "state": "deferred"},))


async def store_record(stores: Stores) -> None:
    await store(stores, 0, sync=True, status="running", pending=())


async def answer(stores: Stores) -> None:
    await store(stores, 2, sync=True, status="answered", answer="done")


async def delete(stores: Stores) -> None:
    await stores.sessions.delete(FIRST.session_id)


async def store(stores: Stores, count: int, *, sync: bool, **fields: Any) -> None:
    """Go on with the first session. Nothing is released where this fails: a process that is killed releases nothing."""
    claim = await stores.sessions.claim(FIRST.session_id)
    stored = await stores.sessions.load_record(FIRST.session_id)
    await stores.sessions.store(claim, moved(stored, count, **fields), events(count, since=stored.position), sync=sync)
    await claim.release()


async def picture(stores: Stores) -> list[Any]:
    """Describe everything that is stored, the newest session first."""
    page = await stores.sessions.list_sessions(principal=None, limit=10)
    assert not page.damaged
    return [await picture_of(stores, one.session_id) for one in page.items]


async def picture_of(stores: Stores, session_id: SessionId) -> list[str]:
    stored = await stores.sessions.load(session_id)
    assert stored.header == HEADER
    assert stored.events == events(stored.record.position)
    return [SESSION_RECORD.encode(stored.record).decode()]


async def come_next(stores: Stores) -> tuple[list[Any], list[str]]:
    """Do what whoever comes after a crash does: look for abandoned sessions, take them up, make the same again."""
    found, sessions = await picture(stores), stores.sessions
    listed = (await sessions.list_sessions(principal=None, limit=10)).items
    assert await sessions.abandoned() == [one.session_id for one in listed if one.status == "running"]
    for one in listed:
        async with await sessions.claim(one.session_id) as claim:
            await sessions.store(claim, moved(one, 2), events(2, since=one.position))
        await picture_of(stores, one.session_id)
    for begun in (FIRST, SECOND):
        await make_again(stores, begun, there=begun.session_id in {one.session_id for one in listed})
    return found, [fault.document async for fault in stores.examine()]


async def make_again(stores: Stores, begun: SessionRecord, *, there: bool) -> None:
    try:
        claim = await stores.sessions.create(begun.model_copy(update={"position": 0}), HEADER)
    except SessionExists:
        assert there
    else:
        assert not there
        await claim.release()
        await stores.sessions.delete(begun.session_id)


SESSIONS = Story(
    [
        (act.__name__, act)
        for act in (
            create_first,
            store_synced,
            store_unsynced,
            store_record,
            create_second,
            store_synced,
            answer,
            delete,
        )
    ],
    picture,
    come_next,
)

if __name__ == "__main__":
    json.dump(list(tell(Path(sys.argv[1]), sys.argv[2], SESSIONS)), sys.stdout)
