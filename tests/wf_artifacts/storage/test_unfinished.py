"""A store that holds a part of a copy is used by nobody but the next copy, on every backend."""

import os
import shutil
from collections.abc import Awaitable, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

import pytest
from anyio import create_task_group, from_thread, to_thread

from tests.wf_artifacts.calls.samples import SESSION, continuation, deliver, load, token
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.samples import (
    LATER,
    NOW,
    artifact,
    checkpoint,
    deployment,
    environment,
    following,
    inputs,
    plan,
    record,
    start_and_release,
)
from tests.wf_artifacts.sessions.samples import begin_and_release, events, new_session_id, session
from wf_artifacts.calls.rules import key_digest
from wf_artifacts.errors import StoreBusy, StoreFull, UnfinishedCopy
from wf_artifacts.storage.database import DATABASE
from wf_artifacts.storage.steps import Step, observed
from wf_artifacts.storage.unfinished import Target
from wf_artifacts.stores import Stores, open_stores

pytestmark = pytest.mark.anyio


AT_LEAST_SECONDS: Final = 0.05
"""How long what has to wait is watched. It must not come to its end, however long this is."""


@pytest.fixture
def url(shared: Shared) -> Iterator[str]:
    """The address of a store whose mark is gone at the end."""
    with unmarked_at_the_end(shared.url):
        yield shared.url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database whose mark is gone at the end."""
    url: str = request.getfixturevalue(request.param)
    with unmarked_at_the_end(url):
        yield url


@contextmanager
def unmarked_at_the_end(url: str) -> Generator[None]:
    yield
    stores = open_stores(url, to_copy_to=True)
    target_of(stores).finish()
    assert stores.shut is not None
    stores.shut()


def target_of(stores: Stores) -> Target:
    assert stores.target is not None
    return stores.target


async def fill(stores: Stores) -> None:
    await stores.catalog.restore_artifact(artifact().artifact_id, [artifact()], last=1)
    await stores.catalog.save_deployment(deployment(), replace=False)
    await start_and_release(stores.runs, record(idempotency_key="k"))
    await begin_and_release(stores.sessions, session(new_session_id(1)), given=events(3))
    await stores.continuations.put(continuation(1))
    await stores.cache.put("key", 1, now=NOW)


async def save_artifact(stores: Stores) -> None:
    await stores.catalog.save_artifact(
        artifact().artifact_id, plan(), description="", required_capabilities=(), now=NOW
    )


async def create_run(stores: Stores) -> None:
    await start_and_release(stores.runs, record())


async def begin_session(stores: Stores) -> None:
    await begin_and_release(stores.sessions, session(new_session_id(1)), given=events(3))


async def put_call(stores: Stores) -> None:
    await stores.continuations.put(continuation(1))


async def cache_result(stores: Stores) -> None:
    await stores.cache.put("key", 1, now=NOW)


Make = Callable[[Stores], Awaitable[object]]
MAKERS: list[tuple[Make, str]] = [
    (save_artifact, "000001.json"),
    (create_run, record().run_id),
    (begin_session, new_session_id(1)),
    (put_call, f"{token(1)}.json"),
    (cache_result, f"{key_digest('key')}.json"),
]
"""What makes something, and the file or folder of a home that it is."""

CHANGES: list[Make] = [
    *(make for make, _ in MAKERS),
    lambda stores: stores.catalog.restore_artifact(artifact("more").artifact_id, [artifact("more")], last=1),
    lambda stores: stores.catalog.delete_artifact(artifact().artifact_id),
    lambda stores: stores.catalog.save_deployment(deployment("more"), replace=False),
    lambda stores: stores.catalog.save_deployment(deployment(), replace=True),
    lambda stores: stores.catalog.delete_deployment(deployment().deployment_id),
    lambda stores: stores.runs.claim(record().run_id),
    lambda stores: stores.runs.delete(record().run_id),
    lambda stores: stores.sessions.claim(new_session_id(1)),
    lambda stores: stores.sessions.delete(new_session_id(1)),
    lambda stores: deliver(stores.continuations, 1),
    lambda stores: stores.continuations.close(token(1), now=LATER),
    lambda stores: stores.continuations.delete_of(SESSION),
    lambda stores: stores.cache.prune(LATER),
]


async def counts(stores: Stores) -> list[int]:
    pages = (
        await stores.catalog.list_artifacts(limit=10),
        await stores.catalog.list_deployments(limit=10),
        await stores.runs.list_runs(principal=None, limit=10),
        await stores.sessions.list_sessions(principal=None, limit=10),
        await stores.continuations.list_all(limit=10),
        await stores.cache.list_all(limit=10),
    )
    return [len(page.items) for page in pages]


async def test_a_marked_store_is_refused_until_it_is_whole(url: str) -> None:
    async with open_stores(url, to_copy_to=True) as copy:
        target_of(copy).begin()
        await fill(copy)
        async with open_stores(url) as other:
            with pytest.raises(UnfinishedCopy):
                await counts(other)
            with pytest.raises(UnfinishedCopy):
                await start_and_release(other.runs, record())
            target_of(copy).finish()
            assert await counts(other) == [1] * 6


async def test_one_at_a_time_holds_a_store_and_others_use_it_as_ever(shared: Shared) -> None:
    async with open_stores(shared.url, to_copy_to=True) as copy, open_stores(shared.url, to_copy_to=True) as second:
        target_of(copy).hold()
        async with open_stores(shared.url) as other:
            assert [one async for one in other.examine()] == []
            await fill(other)
        with pytest.raises(StoreBusy) as refused:
            target_of(second).hold()
        assert refused.value.code == "store_busy"
        await copy.close()
        target_of(second).hold()
        assert await counts(second) == [1] * 6
    assert shared.leftovers() == []


async def test_a_held_store_is_known_by_every_address(shared: Shared) -> None:
    again = f"{shared.url}&connect_timeout=7" if "?" in shared.url else shared.url.replace("/home", "/home/../home")
    async with open_stores(shared.url, to_copy_to=True) as copy, open_stores(again) as other:
        await fill(other)
        assert target_of(other).holder() is None
        target_of(copy).hold()
        assert target_of(other).holder() == target_of(copy).holder() is not None
        await copy.close()
        assert target_of(other).holder() is None


async def test_what_a_copy_left_is_cleared_and_nothing_else_ever_is(url: str) -> None:
    async with open_stores(url, to_copy_to=True) as copy:
        assert target_of(copy).begin()
        await fill(copy)
    async with open_stores(url, to_copy_to=True) as copy:
        target_of(copy).clear()
        assert await counts(copy) == [0] * 6
        assert await copy.catalog.last_versions() == {}
        assert target_of(copy).begin()
        await fill(copy)
        target_of(copy).finish()
        target_of(copy).clear()
        assert await counts(copy) == [1] * 6
        assert not target_of(copy).begin()
        target_of(copy).clear()
        assert await counts(copy) == [1] * 6
    async with open_stores(url) as other:
        assert await counts(other) == [1] * 6


async def test_a_part_stays_a_part_until_it_is_whole(url: str) -> None:
    async with open_stores(url, to_copy_to=True) as copy:
        assert target_of(copy).begin()
        target_of(copy).clear()
        assert target_of(copy).begin()
        await fill(copy)
    async with open_stores(url) as other:
        with pytest.raises(UnfinishedCopy):
            await counts(other)


async def test_whoever_opened_a_store_before_it_was_marked_changes_nothing_in_it(url: str) -> None:
    async with open_stores(url, to_copy_to=True) as copy, open_stores(url) as other:
        assert await counts(other) == [0] * 6
        await put_call(other)
        await other.continuations.delete_of(SESSION)
        assert target_of(copy).begin()
        await fill(copy)
        for change in CHANGES:
            with pytest.raises(UnfinishedCopy):
                await change(other)
        assert await counts(copy) == [1] * 6
        assert (await load(copy.continuations, 1)).state == "open"
        async with await copy.runs.claim(record().run_id):
            target_of(copy).finish()
        await other.catalog.delete_deployment(deployment().deployment_id)
        await other.catalog.delete_artifact(artifact().artifact_id)
        await save_artifact(other)


async def test_a_store_with_a_run_that_is_claimed_is_not_marked_and_the_run_goes_on(url: str) -> None:
    async with open_stores(url, to_copy_to=True) as copy, open_stores(url) as other:
        made = await other.runs.create(record(), environment(), checkpoint(record()))
        assert made.claim is not None
        assert not target_of(copy).begin()
        async with made.claim as claim:
            await other.runs.append(claim, inputs(record()), sync=True)
            assert not target_of(copy).begin()
            await other.runs.commit(claim, following(record()), checkpoint=checkpoint(following(record())))
        assert await counts(other) == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(("make", "name"), MAKERS)
async def test_whoever_makes_something_first_is_waited_for_and_seen(url: str, make: Make, name: str) -> None:
    about_to_appear = Step("rename", name, "before"), Step("commit", DATABASE, "before")
    marking: list[Future[bool]] = []
    with ThreadPoolExecutor(1) as threads:
        async with open_stores(url, to_copy_to=True) as copy, open_stores(url) as other:
            assert await counts(other) == [0] * 6

            def mark(step: Step) -> None:
                if step in about_to_appear and not marking:
                    marking.append(threads.submit(target_of(copy).begin))
                    with pytest.raises(TimeoutError):
                        marking[0].result(AT_LEAST_SECONDS)

            with observed(mark):
                await make(other)
            assert [one.result() for one in marking] == [False]
            assert sum(await counts(other)) == 1


@pytest.mark.parametrize(("make", "name"), MAKERS)
async def test_whoever_saw_no_mark_in_a_home_looks_again_before_anything_is_made(
    home: Path, make: Make, name: str
) -> None:
    marked: list[bool] = []
    async with open_stores(home.as_uri(), to_copy_to=True) as copy, open_stores(home.as_uri()) as other:

        def mark(_: Step) -> None:
            if not marked:
                marked.append(False)
                marked[0] = target_of(copy).begin()

        with observed(mark), pytest.raises(UnfinishedCopy):
            await make(other)
        assert marked == [True]
        assert name not in [name for _, folders, files in os.walk(home) for name in folders + files]
        assert await counts(copy) == [0] * 6


@pytest.mark.parametrize(("make", "_"), MAKERS)
async def test_whoever_comes_while_a_database_is_marked_waits_and_makes_nothing(
    database_url: str, make: Make, _: str
) -> None:
    came, done = Event(), Event()
    async with open_stores(database_url, to_copy_to=True) as copy, open_stores(database_url) as other:
        assert await counts(other) == [0] * 6

        async def try_to_make() -> None:
            with pytest.raises(UnfinishedCopy):
                await make(other)
            done.set()

        async with create_task_group() as group:

            def come(step: Step) -> None:
                if step == Step("commit", DATABASE, "before") and not came.is_set():
                    came.set()
                    from_thread.run_sync(group.start_soon, try_to_make)
                    assert not done.wait(AT_LEAST_SECONDS)

            with observed(come):
                assert await to_thread.run_sync(target_of(copy).begin)
        assert done.is_set()
        assert await counts(copy) == [0] * 6


async def test_what_was_in_a_home_whose_marking_was_torn_is_not_cleared(home: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn"

    def tear(step: Step) -> None:
        if step == Step("rename", "unfinished-copy", "after") and not torn.exists():
            shutil.copytree(home, torn)

    async with open_stores(home.as_uri(), to_copy_to=True) as copy:
        with observed(tear):
            assert target_of(copy).begin()
    async with open_stores(torn.as_uri(), to_copy_to=True) as copy, open_stores(torn.as_uri()) as other:
        await fill(copy)
        with pytest.raises(UnfinishedCopy):
            await counts(other)
        target_of(copy).clear()
        assert not target_of(copy).begin()
        assert await counts(other) == [1] * 6


@pytest.mark.parametrize("number", range(10))
async def test_a_home_that_could_not_be_marked_is_used_as_before(home: Path, number: int) -> None:
    async with open_stores(home.as_uri(), to_copy_to=True) as copy, open_stores(home.as_uri()) as other:
        await put_call(other)
        await other.continuations.delete_of(SESSION)
        with at_change(number, no_room), pytest.raises(StoreFull):
            target_of(copy).begin()
        assert await counts(other) == [0] * 6
