"""Processes that share waiting calls: `python -m tests.wf_artifacts.calls.processes COMMAND URL` prints JSON.

As `tests.wf_artifacts.children` does with runs.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.children import RACERS, ROUNDS, children, race, run_async
from tests.wf_artifacts.samples import NOW
from wf_artifacts.stores import Stores, open_stores

TOKENS = 1000
PUT_BEFORE_A_KILL = 40


def deliveries(url: str) -> list[list[str]]:
    """Let processes deliver one token at the same instant, and tell for each round what each was answered."""
    run_async(url, lambda stores: put(stores, range(ROUNDS)))
    return [race(url, lambda stores, racer, number=number: deliver(stores, number, racer)) for number in range(ROUNDS)]


def shares(url: str) -> list[list[str]]:
    """Let each process put its share of many calls, and deliver to it: how often it was answered what."""

    async def attempt(stores: Stores, racer: int) -> list[str]:
        numbers = range(racer, TOKENS, RACERS)
        await put(stores, numbers)
        return [await deliver(stores, number, number) for number in numbers]

    return race(url, attempt)


def kills(url: str) -> dict[int, int]:
    """Kill processes that deliver to one call after the other: how many each had acknowledged, at least."""
    run_async(url, lambda stores: put(stores, range(RACERS * PUT_BEFORE_A_KILL)))
    started: list[tuple[int, int]] = []
    for racer in range(RACERS):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            run_async(url, lambda stores, racer=racer, writing=writing: deliver_on_and_on(stores, racer, writing))
        os.close(writing)
        started.append((child, reading))
    acknowledged: dict[int, int] = {}
    for racer, (child, reading) in enumerate(started):
        acknowledged[racer] = sum(len(os.read(reading, 1)) for _ in range(random.randint(1, 12)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return acknowledged


async def put(stores: Stores, numbers: range) -> None:
    for number in numbers:
        await stores.continuations.put(continuation(number))


async def deliver(stores: Stores, number: int, content: int) -> str:
    return await stores.continuations.deliver(token(number), delivery(content), principal="local", now=NOW)


async def deliver_on_and_on(stores: Stores, racer: int, acknowledging: int) -> None:
    for turn in count():
        number = racer * PUT_BEFORE_A_KILL + turn
        if turn < PUT_BEFORE_A_KILL:
            assert await deliver(stores, number, number) == "applied"
        os.write(acknowledging, b".")


COMMANDS: dict[str, Callable[[str], Any]] = {"deliveries": deliveries, "shares": shares, "kills": kills}


def processes(command: str, url: str) -> Any:
    """Run a command in a process of its own, and give what it prints."""
    return children(command, url, module="tests.wf_artifacts.calls.processes")


if __name__ == "__main__":
    open_stores(sys.argv[2])  # so that those that are forked find every module loaded
    json.dump(COMMANDS[sys.argv[1]](sys.argv[2]), sys.stdout)
