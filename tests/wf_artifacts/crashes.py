"""Kills a process at every moment of a story of runs: `python -m tests.wf_artifacts.crashes FOLDER URL` prints JSON.

`{home}` in the address of the store stands for a folder. The story goes from one act to the next. What is on disk
before an act is kept; for each moment of each change that the act makes, a process does it over a copy and is killed
there with SIGKILL. Another then finds the state before the act or after it, and can go on from there.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from tests.wf_artifacts.points import EVERY_MOMENT, at_change, die
from tests.wf_artifacts.samples import LATER, checkpoint, environment, following, inputs, new_run_id, record, trace
from wf_artifacts.runs.files import trace as segments
from wf_artifacts.runs.models import RECORD, RunRecord
from wf_artifacts.runs.prune import prune
from wf_artifacts.runs.store import Claim, RunStore
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import RunId

FIRST = record(new_run_id(1), idempotency_key="first", trace_count=3)
SECOND = record(new_run_id(2), idempotency_key="second")
SEGMENT_BYTES = 300
"""So short that a commit begins several."""

Act = Callable[[RunStore], Awaitable[None]]


async def create_first(runs: RunStore) -> None:
    made = await runs.create(FIRST, environment(), checkpoint(FIRST), trace=trace(record(), 3))
    assert made.created


async def create_second(runs: RunStore) -> None:
    made = await runs.create(SECOND, environment(), checkpoint(SECOND))
    assert made.created


async def append_synced(runs: RunStore) -> None:
    await append(runs, sync=True)


async def append_unsynced(runs: RunStore) -> None:
    await append(runs, sync=False)


async def append_at_once(runs: RunStore) -> None:
    await append(runs, sync=True, at_once=True)


async def stop(runs: RunStore) -> None:
    await commit(runs, FIRST.run_id, status="interrupted", interrupts=({"id": "int_1"},))


async def resume(runs: RunStore) -> None:
    await commit(runs, FIRST.run_id, status="running", interrupts=())


async def fold(runs: RunStore) -> None:
    await commit(runs, FIRST.run_id)


async def commit_no_checkpoint(runs: RunStore) -> None:
    async with claimed(runs, FIRST.run_id) as claim:
        stored = await runs.load(FIRST.run_id)
        moved = stored.model_copy(update={"trace_count": stored.trace_count + 1, "outcome": "so far"})
        await runs.commit(claim, moved, trace=trace(stored))


async def complete(runs: RunStore) -> None:
    await commit(runs, FIRST.run_id, status="completed", outcome="ok", output={"result": 1})


async def cancel(runs: RunStore) -> None:
    await commit(runs, SECOND.run_id, entries=0, status="cancelled")


async def prune_completed(runs: RunStore) -> None:
    found = prune(runs, principal=None, before=LATER, is_wanted=nobody, statuses={"completed"})
    assert [one.run_id async for one in found] == [FIRST.run_id]


async def nobody(record: RunRecord) -> bool:
    return False


async def delete(runs: RunStore) -> None:
    await runs.delete(SECOND.run_id)


STORY: list[Act] = [
    create_first,
    append_synced,
    append_unsynced,
    append_synced,  # which makes room
    append_at_once,
    stop,
    resume,
    append_synced,
    commit_no_checkpoint,
    append_unsynced,
    fold,
    append_synced,
    complete,
    create_second,
    cancel,
    prune_completed,
    delete,
]


async def append(runs: RunStore, *, sync: bool, at_once: bool = False) -> None:
    async with claimed(runs, FIRST.run_id) as claim:
        stored = await runs.load(FIRST.run_id)
        since = len(await runs.load_journal(FIRST.run_id))
        before = stored.model_copy(update={"trace_count": stored.trace_count - since, "steps_executed": 0})
        if at_once:
            await runs.append(claim, [], sync=True)  # which shows that the disk is fast
        await runs.append(claim, inputs(before, 1, entries=1, since=since), sync=sync)
        await runs.synced(claim)


async def commit(runs: RunStore, run_id: RunId, *, entries: int = 4, **fields: Any) -> None:
    async with claimed(runs, run_id) as claim:
        stored = await runs.load(run_id)
        moved = following(stored, entries=entries, **fields)
        state = checkpoint(moved, b'{"checkpoint":%d}' % moved.checkpoint)
        await runs.commit(claim, moved, checkpoint=state, trace=trace(stored, entries))


@asynccontextmanager
async def claimed(runs: RunStore, run_id: RunId) -> AsyncGenerator[Claim]:
    """Claim a run, as long as nothing fails: a process that is killed releases nothing."""
    claim = await runs.claim(run_id)
    yield claim
    await claim.release()


async def picture(runs: RunStore) -> list[Any]:
    """Describe everything that is stored, the newest run first."""
    page = await runs.list_runs(principal=None, limit=10)
    assert not page.damaged
    return [await picture_of(runs, one.run_id) for one in page.items]


async def picture_of(runs: RunStore, run_id: RunId) -> list[Any]:
    stored = await runs.load(run_id)
    assert await runs.load_environment(run_id) == environment()
    entries = await runs.read_trace(run_id, 0, 1000)
    assert [entry["index"] for entry in entries] == list(range(stored.trace_count))
    journal = [line.decode() for line in await runs.load_journal(run_id)]
    state = await runs.load_checkpoint(run_id)
    return [RECORD.encode(stored).decode(), state.sequence, state.state.decode(), journal]


async def go_on(runs: RunStore) -> None:
    """Do what whoever comes after a crash does: look for abandoned runs, take them up, ask for the same again."""
    listed = (await runs.list_runs(principal=None, limit=10)).items
    assert await runs.abandoned() == [one.run_id for one in listed if one.status == "running"]
    for status in ("running", "interrupted", "completed", "cancelled"):
        found = await runs.list_runs(principal="local", status=status, deployment_id=FIRST.deployment_id, limit=10)
        assert list(found.items) == [one for one in listed if one.status == status]
    for one in listed:
        async with await runs.claim(one.run_id):
            pass
    ids = {one.run_id for one in listed}
    for number, begun in enumerate((FIRST, SECOND)):
        again = record(new_run_id(10 + number), idempotency_key=begun.idempotency_key)
        made = await runs.create(again, environment(), checkpoint(again))
        assert made.record.run_id == (begun.run_id if begun.run_id in ids else again.run_id)
        if made.claim is not None:
            await made.claim.release()
            await runs.delete(again.run_id)


async def come_next(stores: Stores) -> tuple[list[Any], list[str]]:
    """Find out what a crash has left, go on, and name what is not as it should be even then."""
    found = await picture(stores.runs)
    await go_on(stores.runs)
    return found, [fault.document async for fault in stores.examine()]


@dataclass(frozen=True)
class Story:
    """What happens to a store, act by act."""

    acts: Sequence[tuple[str, Callable[[Stores], Awaitable[Any]]]]
    picture: Callable[[Stores], Awaitable[Any]]
    """Describes everything that is stored, so that it can be compared."""
    come_next: Callable[[Stores], Awaitable[tuple[Any, list[str]]]]
    """Describes what a crash left, goes on from there, and names what is not as it should be even then."""


RUNS = Story(
    [(act.__name__, lambda stores, act=act: act(stores.runs)) for act in STORY],
    lambda stores: picture(stores.runs),
    come_next,
)


def tell(folder: Path, url: str, story: Story) -> Iterator[dict[str, Any]]:
    """Go through the story, and give what was found after each crash."""
    home, copy = folder / "home", folder / "copy"
    safe, crash = url.format(home=home), url.format(home=copy)
    before: Any = []
    for number, (act, work) in enumerate(story.acts):
        name = f"{number} {act}"
        for moment in count():
            if home.exists():
                shutil.copytree(home, copy)
            died = dies(crash, work, moment)
            if died:
                found, faults = over(crash, story.come_next)
                left = [*leftovers(copy), *faults]
                yield {"act": name, "before": found == before, "left": left, "picture": found}
            shutil.rmtree(copy)
            if not died:
                break
        over(safe, work)
        before = over(safe, story.picture)
        yield {"act": name, "after": before}


def over(url: str, work: Callable[[Stores], Awaitable[Any]]) -> Any:
    """Run `work` over stores of its own. Nothing of them is left open in a process that is forked later."""

    async def with_stores() -> Any:
        async with open_stores(url) as stores:
            return await work(stores)

    return anyio.run(with_stores)


def dies(url: str, work: Callable[[Stores], Awaitable[Any]], moment: int) -> bool:
    """Do `work` in a process that is killed at a moment of its changes. False where it has fewer."""
    child = os.fork()
    if not child:
        with at_change(moment, die, moments=EVERY_MOMENT):
            over(url, work)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, -signal.SIGKILL}
    return bool(status)


def leftovers(home: Path) -> list[str]:
    """Name the temporary files."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.name.endswith((".tmp", "-journal")))


if __name__ == "__main__":
    segments.SEGMENT_BYTES = SEGMENT_BYTES
    json.dump(list(tell(Path(sys.argv[1]), sys.argv[2], RUNS)), sys.stdout)
