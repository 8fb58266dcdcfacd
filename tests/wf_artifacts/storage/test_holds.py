"""A hold has one holder, and leaves nothing behind."""

from pathlib import Path

import pytest

from wf_artifacts.storage.holds import FileHold


def test_a_hold_has_one_holder_and_its_file_goes_with_it(tmp_path: Path) -> None:
    first, second = (FileHold(tmp_path / "lock") for _ in range(2))
    assert first.take()
    assert not second.take()
    second.release()
    assert not second.take()
    first.release()
    assert list(tmp_path.iterdir()) == []
    assert second.take()
    first.release()
    assert not first.take()
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_the_holder_is_the_same_by_every_path_and_nobody_once_it_let_go(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    hold, seen = FileHold(tmp_path / "lock"), FileHold(tmp_path / "link" / "lock")
    assert seen.holder() is None
    assert hold.take()
    assert hold.holder() == seen.holder() is not None
    hold.release()
    assert seen.holder() is None


def test_a_file_that_a_killed_process_left_is_held_by_nobody(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    hold = FileHold(tmp_path / "lock")
    assert hold.holder() is None
    assert hold.take()
    hold.release()


def test_a_file_that_is_no_lock_stays(tmp_path: Path) -> None:
    """Somebody may have given a database such a name."""
    (tmp_path / "lock").write_bytes(b"something")
    hold = FileHold(tmp_path / "lock")
    assert hold.take()
    hold.release()
    assert (tmp_path / "lock").read_bytes() == b"something"


def test_a_hold_whose_file_somebody_removed_is_given_up_all_the_same(tmp_path: Path) -> None:
    hold = FileHold(tmp_path / "lock")
    assert hold.take()
    (tmp_path / "lock").unlink()
    hold.release()
    with pytest.raises(FileNotFoundError):
        FileHold(tmp_path / "nothing" / "lock").take()
