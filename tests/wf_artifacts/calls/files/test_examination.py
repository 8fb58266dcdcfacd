"""What is wrong with the waiting calls and cached results of a home is named, and repaired without losing a byte."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.samples import NOW
from tests.wf_artifacts.sessions.samples import begin_and_release, new_session_id, session
from wf_artifacts.calls.files.tree import CacheTree, CallsTree
from wf_artifacts.calls.rules import key_digest
from wf_artifacts.storage.home import Home
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import StateCorrupt

pytestmark = pytest.mark.anyio

SESSION = new_session_id()


@pytest.fixture
async def stores(home: Path) -> AsyncIterator[Stores]:
    """Three calls of a session, of which one was delivered, and a cached result."""
    async with open_stores(f"file://{home}") as stores:
        await begin_and_release(stores.sessions, session(SESSION))
        for number in range(3):
            await stores.continuations.put(continuation(number, session_id=SESSION))
        await stores.continuations.deliver(token(2), delivery(), principal=None, now=NOW)
        await stores.cache.put("key", 1, now=NOW)
        yield stores


@pytest.fixture
def tree(home: Path) -> CallsTree:
    return CallsTree(Home(home))


async def found(stores: Stores, *, repair: bool = False) -> dict[str, str]:
    return {finding.document: finding.kind async for finding in stores.examine(repair=repair)}


def name(home: Path, path: Path) -> str:
    return path.relative_to(home).as_posix()


async def test_nothing_is_wrong_with_what_was_left_alone(stores: Stores) -> None:
    await stores.continuations.close(token(0), now=NOW)
    assert await found(stores) == {}


async def test_a_damaged_call_is_named_refused_and_taken_away(home: Path, stores: Stores, tree: CallsTree) -> None:
    calls, path = stores.continuations, tree.path(token(0))
    path.write_bytes(path.read_bytes()[:-5])
    for attempt in (
        calls.deliver(token(0), delivery(), principal=None, now=NOW),
        calls.load(token(0), principal=None, now=NOW),
        calls.put(continuation(0, session_id=SESSION)),
        calls.close(token(0), now=NOW),
    ):
        with pytest.raises(StateCorrupt, match=name(home, path)):
            await attempt
    page = await calls.list_open(principal="local", now=NOW, limit=10)
    assert ([one.identifier for one in page.damaged], [one.token for one in page.items]) == ([token(0)], [token(1)])
    assert (await calls.list_open(principal="other", now=NOW, limit=10)).damaged == ()
    assert [one.identifier for one in (await calls.list_all(limit=10)).damaged] == [token(0)]
    assert [one.token for one in await calls.deliveries([token(0), token(2)], now=NOW)] == [token(2)]
    assert await found(stores) == {name(home, path): "damaged"}
    assert (await found(stores, repair=True))[name(home, path)] == "damaged"
    await found(stores, repair=True)
    assert await found(stores) == {}
    assert (home / "lost+found" / path.relative_to(home)).exists()
    assert (await calls.put(continuation(0, session_id=SESSION))).state == "open"


async def test_calls_of_a_deleted_session_are_taken_away(home: Path, stores: Stores, tree: CallsTree) -> None:
    await stores.sessions.delete(SESSION)
    expected = {name(home, tree.path(token(number))): "leftover" for number in range(3)}
    assert await found(stores, repair=True) == expected
    assert await found(stores) == {}
    assert all((home / "lost+found" / path).exists() for path in expected)
    assert await stores.continuations.of_session(SESSION, now=NOW) == []
    assert (await stores.continuations.list_open(principal=None, now=NOW, limit=10)).items == ()


async def test_a_deleted_session_takes_its_damaged_calls_along(home: Path, stores: Stores, tree: CallsTree) -> None:
    tree.path(token(0)).write_bytes(b"")
    await stores.continuations.delete_of(SESSION)
    await stores.sessions.delete(SESSION)
    assert (await stores.continuations.list_open(principal=None, now=NOW, limit=10)).items == ()
    assert await found(stores) == {}


async def test_a_call_that_lists_leave_out_is_entered_again(home: Path, stores: Stores, tree: CallsTree) -> None:
    of_open = continuation(0, session_id=SESSION)
    tree.open_mark(of_open).unlink()
    tree.session_mark(of_open).unlink()
    tree.session_mark(continuation(2, session_id=SESSION)).unlink()
    expected = {name(home, tree.path(token(number))): "damaged" for number in (0, 2)}
    assert await found(stores, repair=True) == expected
    assert await found(stores) == {}
    page = await stores.continuations.list_open(principal="local", now=NOW, limit=10)
    assert [one.token for one in page.items] == [token(1), token(0)]
    assert len(await stores.continuations.of_session(SESSION, now=NOW)) == 3


async def test_marks_that_lead_nowhere_are_taken_away(home: Path, stores: Stores, tree: CallsTree) -> None:
    ended, gone = continuation(2, session_id=SESSION), continuation(9, session_id=SESSION)
    marks = [tree.open_mark(ended), tree.open_mark(gone), tree.session_mark(gone)]
    for mark in marks:
        mark.touch()
    assert await found(stores, repair=True) == {name(home, mark): "leftover" for mark in marks}
    assert await found(stores) == {}


async def test_what_does_not_belong_there_is_taken_away(home: Path, stores: Stores, tree: CallsTree) -> None:
    shard = tree.path(token(0)).parent.relative_to(home)
    cached = CacheTree(Home(home)).path(key_digest("key")).parent.relative_to(home)
    strays = {
        f"{shard}/.{token(0)}.json.tmp": "leftover",
        f"{shard}/{token(0)}.yaml": "unknown",
        f"{shard}/call_misplaced.json": "unknown",
        "calls/README": "unknown",
        "calls/open/README": "unknown",
        f"calls/of/{SESSION}/README": "unknown",
        f"{cached}/.x.json.tmp": "leftover",
        f"{cached}/x.json": "unknown",
        "cache/README": "unknown",
    }
    for stray in strays:
        (home / stray).write_bytes(stray.encode())
    folders = {"calls/other": "unknown", "cache/other": "unknown"}
    for folder in folders:
        (home / folder).mkdir()
    assert await found(stores) == strays | folders
    assert await found(stores, repair=True) == strays | folders
    assert await found(stores) == {}
    assert all((home / "lost+found" / stray).read_bytes() == stray.encode() for stray in strays)


async def test_a_newer_call_is_left_to_the_version_that_wrote_it(home: Path, stores: Stores, tree: CallsTree) -> None:
    path = tree.path(token(0))
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":99', 1))
    before = path.read_bytes()
    assert await found(stores, repair=True) == {name(home, path): "newer"}
    assert path.read_bytes() == before


async def test_a_result_that_cannot_be_read_is_as_good_as_none_and_taken_away(
    home: Path, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    path = CacheTree(Home(home)).path(key_digest("key"))
    path.write_bytes(path.read_bytes().replace(b'"key":"key"', b'"key":"sky"'))
    with caplog.at_level(logging.WARNING):
        assert await stores.cache.get("key") is None
    assert name(home, path) in caplog.text
    assert len((await stores.cache.list_all(limit=10)).damaged) == 1
    assert await found(stores, repair=True) == {name(home, path): "damaged"}
    assert await found(stores) == {}


async def test_results_that_cannot_be_read_are_pruned_and_newer_ones_are_not(home: Path, stores: Stores) -> None:
    tree = CacheTree(Home(home))
    await stores.cache.put("newer", 2, now=NOW)
    tree.path(key_digest("key")).write_bytes(b"")
    path = tree.path(key_digest("newer"))
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":99', 1))
    assert await stores.cache.prune(NOW) == 1
    assert path.exists()
