"""Processes that share sessions: `python -m tests.wf_artifacts.sessions.processes COMMAND URL` prints JSON.

As `tests.wf_artifacts.children` does with runs.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from tests.wf_artifacts.children import HELD, RACERS, ROUNDS, children, dies, race, run_async
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import SessionBusy, SessionExists
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import SessionId


def claims(url: str) -> list[list[bool]]:
    """Let processes claim a session at the same instant, and tell for each round who holds it."""
    begun = [session(new_session_id(number), status="running") for number in range(ROUNDS)]
    run_async(url, lambda stores: begin_and_release(stores.sessions, *begun))

    async def attempt(stores: Stores, session_id: SessionId) -> bool:
        try:
            HELD.append(await stores.sessions.claim(session_id))
        except SessionBusy:
            return False
        return True

    return [race(url, lambda stores, _, one=one: attempt(stores, one.session_id)) for one in begun]


def births(url: str) -> list[list[bool]]:
    """Let processes create a session with one id at the same instant, and tell for each round who did."""

    async def attempt(stores: Stores, session_id: SessionId) -> bool:
        try:
            claim = await stores.sessions.create(session(session_id), HEADER)
        except SessionExists:
            return False
        await claim.release()
        return True

    ids = [new_session_id(number) for number in range(2)]
    return [race(url, lambda stores, _, one=one: attempt(stores, one)) for one in ids]


def crashes(url: str) -> list[tuple[str, SessionId]]:
    """Kill a process at every moment of every change that it makes: what it was doing, to which session."""
    acts: dict[str, Callable[[Stores, SessionRecord], Coroutine[Any, Any, Any]]] = {
        "create": create,
        "store": store,
        "delete": lambda stores, begun: stores.sessions.delete(begun.session_id),
    }
    numbers = count()
    crashed: list[tuple[str, SessionId]] = []
    for name, act in acts.items():
        for point in count():
            begun = session(new_session_id(next(numbers)))
            if act is not create:
                run_async(url, lambda stores, begun=begun: begin_and_release(stores.sessions, begun, given=events(2)))
            if not dies(url, lambda stores, act=act, begun=begun: act(stores, begun), point):
                break
            crashed.append((name, begun.session_id))
    return crashed


def kills(url: str) -> dict[SessionId, int]:
    """Kill processes that store one state after the other: how many each had acknowledged, at least."""
    begun = [session(new_session_id(number), status="running") for number in range(RACERS)]
    run_async(url, lambda stores: begin_and_release(stores.sessions, *begun))
    started: list[tuple[int, int]] = []
    for one in begun:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            run_async(url, lambda stores, one=one, writing=writing: store_on_and_on(stores, one, writing))
        os.close(writing)
        started.append((child, reading))
    acknowledged: dict[SessionId, int] = {}
    for one, (child, reading) in zip(begun, started, strict=True):
        acknowledged[one.session_id] = sum(len(os.read(reading, 1)) for _ in range(random.randint(1, 12)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return acknowledged


async def create(stores: Stores, begun: SessionRecord) -> None:
    HELD.append(await stores.sessions.create(moved(begun, 2), HEADER, events(2)))


async def store(stores: Stores, begun: SessionRecord) -> None:
    claim = await stores.sessions.claim(begun.session_id)
    await stores.sessions.store(claim, moved(begun, 5), events(3, since=2))


async def store_on_and_on(stores: Stores, begun: SessionRecord, acknowledging: int) -> None:
    claim = await stores.sessions.claim(begun.session_id)
    while True:
        after = moved(begun, 3)
        await stores.sessions.store(claim, after, events(3, since=begun.position))
        os.write(acknowledging, b".")
        begun = after


COMMANDS: dict[str, Callable[[str], Any]] = {"claims": claims, "births": births, "crashes": crashes, "kills": kills}


def processes(command: str, url: str) -> Any:
    """Run a command in a process of its own, and give what it prints."""
    return children(command, url, module="tests.wf_artifacts.sessions.processes")


if __name__ == "__main__":
    open_stores(sys.argv[2])  # so that those that are forked find every module loaded
    json.dump(COMMANDS[sys.argv[1]](sys.argv[2]), sys.stdout)
