"""Processes that share a store: `python -m tests.wf_artifacts.children COMMAND URL` prints JSON.

One process is started and forks those that race or die, which takes milliseconds where starting them takes seconds.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from tests.wf_artifacts.points import EVERY_MOMENT, at_change, die
from tests.wf_artifacts.samples import (
    NOW,
    checkpoint,
    environment,
    following,
    new_run_id,
    record,
    start_and_release,
    trace,
)
from wf_artifacts.errors import RunBusy
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.store import Claim
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import ArtifactId, RunId

RACERS = 8
ROUNDS = 5
STOPS = 25
BIRTHS = 50
MOST_CHANGES_APART = 5
"""How many more changes one creation makes than another: the first key of a kind makes a folder."""
HELD: list[Claim | SessionClaim] = []
"""Claims that are held until the process ends."""


def claims(url: str) -> list[list[bool]]:
    """Let processes claim a run at the same instant, and tell for each round who holds it."""
    runs = [record(new_run_id(number)) for number in range(ROUNDS)]
    run_async(url, lambda stores: start_and_release(stores.runs, *runs))

    async def attempt(stores: Stores, begun: RunRecord) -> bool:
        try:
            HELD.append(await stores.runs.claim(begun.run_id))
        except RunBusy:
            return False
        return True

    return [race(url, lambda stores, _, begun=begun: attempt(stores, begun)) for begun in runs]


def keys(url: str) -> list[list[tuple[str, bool]]]:
    """Let processes create runs with one key at the same instant: which run each got, and whether it made it."""

    async def attempt(stores: Stores, racer: int, number: int) -> tuple[str, bool]:
        begun = record(new_run_id(100 * number + racer), idempotency_key=f"key {number}")
        made = await stores.runs.create(begun, environment(), checkpoint(begun))
        return made.record.run_id, made.created

    return [race(url, lambda stores, racer, n=number: attempt(stores, racer, n)) for number in range(ROUNDS)]


def stops(url: str) -> list[list[int]]:
    """Let processes begin and stop runs of their own at the same time: how many each did."""

    async def attempt(stores: Stores, racer: int) -> int:
        for number in range(STOPS):
            begun = record(new_run_id(STOPS * racer + number))
            made = await stores.runs.create(begun, environment(), checkpoint(begun))
            assert made.claim is not None
            stopped = following(begun, status="interrupted")
            await stores.runs.commit(made.claim, stopped, checkpoint=checkpoint(stopped), trace=trace(begun))
            await made.claim.release()
            await stores.runs.list_runs(principal=None, status="interrupted", limit=3)
        return STOPS

    return [race(url, attempt)]


def births(url: str) -> list[list[int]]:
    """Let processes begin runs of their own at the same time: how many each did."""

    async def attempt(stores: Stores, racer: int) -> int:
        for number in range(BIRTHS):
            begun = record(new_run_id(BIRTHS * racer + number), idempotency_key=f"{racer} {number}")
            made = await stores.runs.create(begun, environment(), checkpoint(begun))
            assert made.claim is not None
            await made.claim.release()
        return BIRTHS

    return [race(url, attempt)]


def versions(url: str) -> list[list[int]]:
    """Let processes save plans of their own under one id at the same instant: which number each got."""

    async def attempt(stores: Stores, racer: int) -> int:
        plan = {"name": f"{os.getpid()} {racer}"}
        saved = await stores.catalog.save_artifact(
            ArtifactId("notes"), plan, description="", required_capabilities=[], now=NOW
        )
        return saved.version

    return [race(url, attempt) for _ in range(ROUNDS)]


def crashes(url: str) -> list[tuple[str, str]]:
    """Kill a process at every moment of every change that it makes: what it was doing, to which run."""
    acts: dict[str, Callable[[Stores, RunRecord], Coroutine[Any, Any, Any]]] = {
        "create": create,
        "commit": commit,
        "delete": lambda stores, begun: stores.runs.delete(begun.run_id),
    }
    numbers = count()
    crashed: list[tuple[str, str]] = []
    for name, act in acts.items():
        survived = 0
        for point in count():
            begun = record(new_run_id(next(numbers)), idempotency_key=f"{name} {point}")
            if act is not create:
                run_async(url, lambda stores, begun=begun: start_and_release(stores.runs, begun))
            if dies(url, lambda stores, act=act, begun=begun: act(stores, begun), point):
                crashed.append((name, begun.run_id))
            elif (survived := survived + 1) == MOST_CHANGES_APART:
                break
    return crashed


def kills(url: str) -> dict[RunId, int]:
    """Kill processes that commit one state after the other: how many each had acknowledged, at least."""
    runs = [record(new_run_id(number)) for number in range(RACERS)]
    run_async(url, lambda stores: start_and_release(stores.runs, *runs))
    children: list[tuple[int, int]] = []
    for begun in runs:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            run_async(url, lambda stores, begun=begun, writing=writing: commit_on_and_on(stores, begun, writing))
        os.close(writing)
        children.append((child, reading))
    acknowledged: dict[RunId, int] = {}
    for begun, (child, reading) in zip(runs, children, strict=True):
        acknowledged[begun.run_id] = sum(len(os.read(reading, 1)) for _ in range(random.randint(1, 12)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return acknowledged


async def create(stores: Stores, begun: RunRecord) -> None:
    made = await stores.runs.create(begun, environment(), checkpoint(begun))
    assert made.claim is not None
    HELD.append(made.claim)


async def commit(stores: Stores, begun: RunRecord) -> None:
    claim = await stores.runs.claim(begun.run_id)
    moved = following(begun, entries=3, steps_executed=1)
    await stores.runs.commit(claim, moved, checkpoint=checkpoint(moved, b'{"steps":1}'), trace=trace(begun, 3))


async def commit_on_and_on(stores: Stores, begun: RunRecord, acknowledging: int) -> None:
    claim = await stores.runs.claim(begun.run_id)
    for steps in count(1):
        moved = following(begun, entries=3, steps_executed=steps)
        state = checkpoint(moved, b'{"steps":%d}' % steps)
        await stores.runs.commit(claim, moved, checkpoint=state, trace=trace(begun, 3))
        os.write(acknowledging, b".")
        begun = moved


def run_async(url: str, work: Callable[[Stores], Coroutine[Any, Any, Any]]) -> Any:
    """Run `work` over stores of its own. They are closed, so nothing of them is inherited by a process forked later."""

    async def over_stores() -> Any:
        stores = open_stores(url)
        try:
            return await work(stores)
        finally:
            if not HELD:
                await stores.close()

    return anyio.run(over_stores)


def dies(url: str, work: Callable[[Stores], Coroutine[Any, Any, Any]], point: int) -> bool:
    """Run `work` in a process that is killed at a moment of its changes; False where it has fewer."""
    child = os.fork()
    if not child:
        with at_change(point, die, moments=EVERY_MOMENT):
            run_async(url, work)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def race(url: str, attempt: Callable[[Stores, int], Coroutine[Any, Any, Any]]) -> list[Any]:
    """Let processes attempt the same at the same instant, and give the answers. They end after the last answer."""
    gate, opening = os.pipe()
    door, leaving = os.pipe()
    racers: list[tuple[int, int]] = []
    for number in range(RACERS):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(opening)
            os.close(leaving)
            os.read(gate, 1)
            answer = run_async(url, lambda stores, number=number: attempt(stores, number))
            os.write(writing, json.dumps(answer).encode())
            os.close(writing)
            os.read(door, 1)
            os._exit(0)
        os.close(writing)
        racers.append((child, reading))
    os.close(opening)
    answers = [json.loads(Path(f"/dev/fd/{reading}").read_bytes()) for _, reading in racers]
    os.close(leaving)
    for child, reading in racers:
        os.close(reading)
        os.waitpid(child, 0)
    for descriptor in (gate, door):
        os.close(descriptor)
    return answers


COMMANDS: dict[str, Callable[[str], Any]] = {
    "claims": claims,
    "keys": keys,
    "stops": stops,
    "births": births,
    "versions": versions,
    "crashes": crashes,
    "kills": kills,
}


def children(command: str, url: str, *, module: str = "tests.wf_artifacts.children") -> Any:
    """Run a command of a module in a process of its own, and give what it prints."""
    ran = subprocess.run(
        [sys.executable, "-m", module, command, url],
        capture_output=True,
        check=True,
        timeout=50,
    )
    return json.loads(ran.stdout)


if __name__ == "__main__":
    open_stores(sys.argv[2])  # so that those that are forked find every module loaded
    json.dump(COMMANDS[sys.argv[1]](sys.argv[2]), sys.stdout)
