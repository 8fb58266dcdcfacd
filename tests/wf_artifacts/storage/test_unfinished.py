"""A store that holds a part of a copy is used by nobody but the next copy, on every backend."""

from collections.abc import Iterator

import pytest

from tests.wf_artifacts.calls.samples import continuation
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import NOW, artifact, deployment, record, start_and_release
from tests.wf_artifacts.sessions.samples import begin_and_release, events, new_session_id, session
from wf_artifacts.errors import StoreBusy, UnfinishedCopy
from wf_artifacts.storage.unfinished import Target
from wf_artifacts.stores import Stores, open_stores

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(shared: Shared) -> Iterator[str]:
    """The address of a store whose mark is gone at the end."""
    yield shared.url
    stores = open_stores(shared.url, to_copy_to=True)
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
        await fill(copy)
        target_of(copy).clear()
        assert await counts(copy) == [1] * 6
        target_of(copy).begin()
    async with open_stores(url, to_copy_to=True) as copy:
        target_of(copy).clear()
        assert await counts(copy) == [0] * 6
        assert await copy.catalog.last_versions() == {}
        await fill(copy)
    async with open_stores(url) as other:
        with pytest.raises(UnfinishedCopy):
            await counts(other)
