"""A lock has one holder, whether others are processes or tasks of this one."""

import os
import threading
from pathlib import Path

import pytest

from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage import locks
from wf_artifacts.storage.locks import is_locked, locked, share_lock, try_lock, try_lock_at_once


def test_a_lock_has_one_holder_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = try_lock(path)
    assert first is not None
    assert first.held
    assert is_locked(path)
    assert try_lock(path) is None
    first.release()
    first.release()
    assert not first.held
    assert not is_locked(path)
    second = try_lock(path)
    assert second is not None
    second.release()


def test_a_file_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "lock")
    assert list(tmp_path.iterdir()) == []


def test_a_lock_in_a_folder_that_is_not_there_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "gone" / "lock")


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        held = try_lock(path)
        os.write(writing, b"held" if held else b"lost")
        os._exit(0)
    assert os.read(reading, 4) == b"held"
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    lock = try_lock(path)
    assert lock is not None
    lock.release()


def test_a_released_lock_is_free_though_a_forked_child_lives_on(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None
    gate, opening = os.pipe()
    child = os.fork()
    if not child:
        os.close(opening)
        os.read(gate, 1)
        os._exit(0)
    lock.release()
    free = not is_locked(path)
    os.close(opening)
    os.close(gate)
    os.waitpid(child, 0)
    assert free


def test_the_lock_of_a_removed_file_is_none(tmp_path: Path) -> None:
    """Whoever opened the file before it was removed locks the one that is there now."""
    path = tmp_path / "lock"
    old = try_lock(path)
    assert old is not None
    path.unlink()
    new = try_lock(path)
    assert new is not None
    assert is_locked(path)
    old.release()
    assert is_locked(path)
    new.release()


def test_onlookers_never_make_a_free_lock_look_taken(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            is_locked(path)

    onlookers = [threading.Thread(target=look) for _ in range(3)]
    for onlooker in onlookers:
        onlooker.start()
    try:
        for _ in range(100):
            lock = try_lock(path)
            assert lock is not None
            lock.release()
    finally:
        done.set()
        for onlooker in onlookers:
            onlooker.join()


def test_waiting_for_a_lock_ends_when_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None
    entered = threading.Event()

    def wait() -> None:
        with locked(path):
            entered.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not entered.is_set()
    lock.release()
    assert entered.wait(timeout=5)
    waiting.join()
    assert not is_locked(path)


def test_a_lock_that_is_never_released_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_PATIENCE_SECONDS", 0)
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None
    with pytest.raises(StoreUnavailable, match="another process has held it"), locked(path):
        pass
    lock.release()


def test_a_lock_is_released_when_the_work_under_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), locked(path):
        _ = 1 / 0
    assert not is_locked(path)


def test_a_lock_is_shared_by_many_and_then_nobody_holds_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = share_lock(path), share_lock(path)
    assert try_lock_at_once(path) is None
    first.release()
    assert try_lock_at_once(path) is None
    second.release()
    alone = try_lock_at_once(path)
    assert alone is not None
    alone.release()


def test_sharing_waits_for_one_who_holds_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    alone = try_lock(path)
    assert alone is not None
    entered = threading.Event()

    def share() -> None:
        lock = share_lock(path)
        entered.set()
        lock.release()

    sharing = threading.Thread(target=share)
    sharing.start()
    assert not entered.is_set()
    alone.release()
    assert entered.wait(timeout=5)
    sharing.join()


def test_the_caller_may_say_how_long_to_wait(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    alone = try_lock(path)
    assert alone is not None
    with pytest.raises(StoreUnavailable, match="for 0 seconds"):
        share_lock(path, patience_seconds=0)
    with pytest.raises(StoreUnavailable, match="for 0 seconds"), locked(path, patience_seconds=0):
        pass
    alone.release()
