"""Kills a process at every moment of a story of calls: `python -m tests.wf_artifacts.calls.crashes FOLDER URL`.

As `tests.wf_artifacts.crashes` does with runs.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.crashes import Story, over, tell
from tests.wf_artifacts.samples import LATER, NOW
from tests.wf_artifacts.sessions.samples import begin_and_release, new_session_id, session
from wf_artifacts.calls.models import CACHED, WAITING, Continuation, Waiting
from wf_artifacts.stores import Stores

STAYS, GOES = new_session_id(1), new_session_id(2)
KEYS = ["one", "two"]


def call(number: int, **fields: Any) -> Continuation:
    return continuation(number, session_id=STAYS, **fields)


CALLS = [
    call(0),
    call(1, kind="isolated"),
    call(2, expires_at=LATER),
    continuation(3, session_id=GOES),
    call(4),
]
BROUGHT = Waiting(continuation=CALLS[4], state="delivered", delivery=delivery("brought"), ended_at=NOW)


def put(number: int, **fields: Any) -> Callable[[Stores], Awaitable[Any]]:
    wanted = CALLS[number].model_copy(update=fields)
    return lambda stores: stores.continuations.put(wanted)


def deliver(number: int, **said: Any) -> Callable[[Stores], Awaitable[Any]]:
    return lambda stores: stores.continuations.deliver(token(number), delivery(**said), principal=None, now=NOW)


def close(number: int) -> Callable[[Stores], Awaitable[Any]]:
    return lambda stores: stores.continuations.close(token(number), now=NOW)


ACTS: list[tuple[str, Callable[[Stores], Awaitable[Any]]]] = [
    ("put", put(0)),
    ("deliver", deliver(0, content="x" * 5000)),
    ("put isolated", put(1)),
    ("close", close(1)),
    ("reopen", put(1, kind="in_doubt", created_at=LATER)),
    ("deliver retry", deliver(1, kind="retry", result=None)),
    ("use up", close(1)),
    ("put expiring", put(2)),
    ("expire", lambda stores: stores.continuations.deliveries([token(2)], now=LATER)),
    ("put of another", put(3)),
    ("delete", lambda stores: stores.continuations.delete_of(GOES)),
    ("restore", lambda stores: stores.continuations.restore(BROUGHT)),
    ("cache", lambda stores: stores.cache.put("one", {"type": "text", "content": "a"}, now=NOW)),
    ("cache again", lambda stores: stores.cache.put("one", {"type": "text", "content": "b"}, now=NOW)),
    ("prune", lambda stores: stores.cache.prune(LATER)),
]


async def picture(stores: Stores) -> list[str]:
    """Describe everything that is stored, and how it is found."""
    calls = stores.continuations
    everything, cached = await calls.list_all(limit=10), await stores.cache.list_all(limit=10)
    waiting = await calls.list_open(principal="local", now=NOW, limit=10)
    assert [everything.damaged, cached.damaged, waiting.damaged] == [(), (), ()]
    found = {one.token: one for one in everything.items}
    assert {one.token for one in waiting.items} == {one.token for one in found.values() if one.state == "open"}
    for session_id in (STAYS, GOES):
        own = {one.token for one in await calls.of_session(session_id, now=NOW)}
        assert own == {one.token for one in found.values() if one.continuation.session_id == session_id}
    return [
        *(WAITING.encode(one).decode() for one in found.values()),
        *(CACHED.encode(c).decode() for c in cached.items),
    ]


async def come_next(stores: Stores) -> tuple[list[str], list[str]]:
    """Do what whoever comes after a crash does: put every call again, deliver to it, and use the cache."""
    found = await picture(stores)
    before = {one.token: one for one in (await stores.continuations.list_all(limit=10)).items}
    for wanted in CALLS:
        stored = await stores.continuations.put(wanted)
        assert stored == before.get(wanted.token, Waiting(continuation=wanted))
        answer = await stores.continuations.deliver(wanted.token, delivery("late"), principal="local", now=NOW)
        expected = {"open": "applied", "expired": "expired"}.get(stored.state, "already_completed")
        assert answer == expected
    for key in KEYS:
        await stores.cache.put(key, key, now=NOW)
        assert await stores.cache.get(key) == key
    await picture(stores)
    return found, [fault.document async for fault in stores.examine()]


async def begin(stores: Stores) -> None:
    await begin_and_release(stores.sessions, session(STAYS), session(GOES))


CALLS_STORY = Story(ACTS, picture, come_next)

if __name__ == "__main__":
    folder, url = Path(sys.argv[1]), sys.argv[2]
    over(url.format(home=folder / "home"), begin)
    json.dump(list(tell(folder, url, CALLS_STORY)), sys.stdout)
