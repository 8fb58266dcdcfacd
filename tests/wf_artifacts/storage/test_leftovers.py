"""What a crash left of a folder is removed, unless somebody is at work on it."""

from pathlib import Path

import pytest

from wf_artifacts.storage.leftovers import remove_leftover, whole
from wf_artifacts.storage.locks import try_lock


@pytest.fixture
def left(tmp_path: Path) -> Path:
    left = tmp_path / ".one.tmp"
    (left / "inner").mkdir(parents=True)
    (left / "inner" / "file").write_bytes(b"half")
    return left


def test_what_nobody_holds_is_removed(left: Path) -> None:
    remove_leftover(left, lock="lock")
    assert list(left.parent.iterdir()) == []


def test_what_somebody_holds_stays(left: Path) -> None:
    lock = try_lock(left / "lock")
    assert lock is not None
    remove_leftover(left, lock="lock")
    assert (left / "inner" / "file").read_bytes() == b"half"
    lock.release()
    remove_leftover(left, lock="lock")
    assert not left.exists()


def test_what_is_not_there_needs_no_removal(tmp_path: Path) -> None:
    remove_leftover(tmp_path / ".one.tmp", lock="lock")
    assert list(tmp_path.iterdir()) == []


def test_of_a_folder_what_is_whole_is_given_and_what_is_left_removed(left: Path) -> None:
    (left.parent / "one").mkdir()
    (left.parent / "no id!").mkdir()
    names = sorted(path.name for path in left.parent.iterdir())
    assert list(whole(left.parent, names, lock="lock")) == ["one"]
    assert sorted(path.name for path in left.parent.iterdir()) == ["no id!", "one"]
