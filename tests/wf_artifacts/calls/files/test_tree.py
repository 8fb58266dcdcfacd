"""Where calls and results are, and that marks lead to them."""

from pathlib import Path

from tests.wf_artifacts.calls.samples import SESSION, continuation, delivery, token
from tests.wf_artifacts.samples import NOW
from wf_artifacts.calls.files.tree import CacheTree, CallsTree, is_shard
from wf_artifacts.calls.models import CACHED, CachedResult, Waiting
from wf_artifacts.calls.rules import key_digest
from wf_artifacts.storage.home import Home

OPEN = Waiting(continuation=continuation())
DELIVERED = Waiting(continuation=continuation(), state="delivered", delivery=delivery(), ended_at=NOW)


def store(tree: CallsTree, waiting: Waiting) -> None:
    with tree.changing(waiting.token):
        tree.store(waiting)


def names(tree: CallsTree) -> list[str]:
    """Give every file but the locks, by path in the folder of calls."""
    found = (path.relative_to(tree.root) for path in tree.root.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(map(str, found))


def test_an_open_call_has_its_marks_and_one_that_ended_only_that_of_its_session(home: Path) -> None:
    tree = CallsTree(Home(home))
    file = str(tree.path(token()).relative_to(tree.root))
    session_mark, open_mark = (
        str(mark.relative_to(tree.root))
        for mark in (tree.session_mark(OPEN.continuation), tree.open_mark(OPEN.continuation))
    )
    store(tree, OPEN)
    assert names(tree) == sorted([file, session_mark, open_mark])
    assert tree.waiting(token()) == OPEN
    store(tree, DELIVERED)
    assert names(tree) == sorted([file, session_mark])
    with tree.changing(token()):
        tree.remove(DELIVERED)
    assert names(tree) == []
    assert tree.waiting(token()) is None


def test_a_mark_is_settled_only_where_it_leads_to_nothing(home: Path) -> None:
    tree = CallsTree(Home(home))
    mark = tree.open_mark(OPEN.continuation)
    store(tree, OPEN)
    tree.settle(mark, token())
    assert mark.exists()
    store(tree, DELIVERED)
    mark.touch()
    tree.settle(mark, token())
    assert not mark.exists()
    assert tree.tokens_of(SESSION) == [token()]


def test_what_is_no_call_is_not_among_them(home: Path) -> None:
    tree = CallsTree(Home(home))
    store(tree, OPEN)
    (home / "calls" / "00").mkdir(exist_ok=True)
    (home / "calls" / "00" / f"{token()}.json").touch()
    (home / "calls" / "open" / "x").mkdir()
    (home / "calls" / "open" / "x" / "y").touch()
    assert list(tree.tokens()) == [token()]
    assert [mark.name for mark in tree.places(None)] == [tree.open_mark(OPEN.continuation).name]
    assert list(tree.places("other")) == []
    assert tree.tokens_of("..") == []


def test_a_call_belongs_to_a_session_or_a_run_that_is_there(home: Path) -> None:
    tree = CallsTree(Home(home))
    assert not tree.has_owner(continuation())
    for room in ("sessions", "runs"):
        folder = home / room / SESSION
        folder.mkdir(parents=True)
        assert tree.has_owner(continuation())
        folder.rmdir()


def test_results_are_spread_by_the_digest_of_their_keys(home: Path) -> None:
    tree = CacheTree(Home(home))
    digest = key_digest("k")
    assert (tree.result(digest), tree.shards()) == (None, [])
    with tree.changing(digest):
        tree.path(digest).write_bytes(CACHED.encode(CachedResult(key="k", result=1, created_at=NOW)))
    assert tree.shards() == [digest[:2]]
    assert tree.digests(digest[:2]) == [digest]
    assert tree.result(digest) == CachedResult(key="k", result=1, created_at=NOW)


def test_shards_have_two_hexadecimal_digits() -> None:
    assert [name for name in ("00", "af", "0", "000", "AF", "of", "..", "") if is_shard(name)] == ["00", "af"]
