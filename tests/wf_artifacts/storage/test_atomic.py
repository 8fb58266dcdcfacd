"""A change of files is done or undone, whatever fails in the middle."""

import os
import stat
from pathlib import Path

import pytest

from tests.wf_artifacts.points import at_change, no_room
from wf_artifacts.storage import atomic
from wf_artifacts.storage.atomic import Writing
from wf_artifacts.storage.steps import observed


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_replaced_file_has_the_new_content_and_no_temporary_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for data in (b"first", b"", b"x" * 100_000):
        atomic.replace_file(path, data)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]
    assert mode(path) == 0o600


def test_a_replacement_that_fails_leaves_the_old_or_the_new_content_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    atomic.replace_file(path, b"old" * 1000)
    reached = True
    point = 0
    while reached:
        with at_change(point, no_room) as reach:
            try:
                atomic.replace_file(path, b"new" * 1000)
            except OSError:
                assert path.read_bytes() in (b"old" * 1000, b"new" * 1000)
            reached = reach()
        assert list(tmp_path.iterdir()) == [path]
        point += 1
    assert point > 3
    assert path.read_bytes() == b"new" * 1000


def test_a_replacement_overwrites_what_a_crash_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    atomic.temporary(path).write_bytes(b"half of something longer")
    atomic.replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made_with_those_above_them_and_belong_to_the_owner(tmp_path: Path) -> None:
    atomic.make_folder(tmp_path / "a" / "b")
    atomic.make_folder(tmp_path / "a" / "b")
    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "b")} == {0o700}


def test_a_folder_cannot_be_made_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(OSError, match="a"):
        atomic.make_folder(tmp_path / "a" / "b")


def test_appending_takes_the_place_of_what_lay_beyond(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    atomic.write_file(path, b"one\ntwo\nhalf of thr")
    atomic.append_to_file(path, b"three\n", at=8)
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_files_are_all_written_before_the_first_is_waited_for(tmp_path: Path) -> None:
    """Then a journal of the file system is committed once for all."""
    (tmp_path / "a").write_bytes(b"one\nhalf")
    acts: list[tuple[str, str]] = []
    with observed(lambda one: acts.append((one.act, one.what)) if one.moment == "before" else None):
        atomic.write_files([Writing(tmp_path / "a", b"two\n", at=4), Writing(tmp_path / "b", b"new")])
    assert acts == [("truncate", "a"), ("write", "a"), ("write", "b"), ("fsync", "a"), ("fsync", "b")]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"one\ntwo\n", "b": b"new"}
    assert mode(tmp_path / "b") == 0o600


def test_what_was_written_under_the_temporary_name_takes_the_place_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    atomic.write_file(atomic.temporary(path), b"new")
    atomic.put_in_place(path)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_open_file_is_written_where_its_end_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for at, data in ((0, b"one\n"), (4, b"two\n"), (4, b"2\n")):
        descriptor = atomic.open_to_append(path, at=at)
        atomic.write_at(descriptor, path, data, at=at)
        atomic.sync(descriptor, path)
        os.close(descriptor)
    assert path.read_bytes() == b"one\n2\n"
    assert mode(path) == 0o600


def test_what_is_written_over_is_synced_without_what_is_kept_about_the_file(tmp_path: Path) -> None:
    if not atomic.CAN_SYNC_DATA:
        pytest.skip("there is no fdatasync here")
    path = tmp_path / "a.jsonl"
    atomic.write_file(path, b"one\n" + bytes(100))
    acts: list[str] = []
    descriptor = atomic.open_to_append(path, at=104)
    with observed(lambda one: acts.append(one.act) if one.moment == "before" else None):
        atomic.write_at(descriptor, path, b"two\n", at=4)
        atomic.sync_data(descriptor, path)
        for _ in range(2):
            atomic.cut_open(descriptor, path, at=8)
    os.close(descriptor)
    assert path.read_bytes() == b"one\ntwo\n"
    assert acts == ["write", "fdatasync", "truncate"]


def test_what_the_system_writes_in_pieces_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = os.pwrite

    def three(descriptor: int, data: bytes, at: int) -> int:
        return pwrite(descriptor, data[:3], at)

    monkeypatch.setattr(os, "pwrite", three)
    atomic.write_file(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_mark_is_an_empty_file_and_leaves_what_is_there(tmp_path: Path) -> None:
    for _ in range(2):
        atomic.make_mark(tmp_path / "mark")
    assert (tmp_path / "mark").read_bytes() == b""
    atomic.write_file(tmp_path / "file", b"x")
    atomic.make_mark(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_file_that_was_made_appears_whole(tmp_path: Path) -> None:
    made = atomic.temporary(tmp_path / "a.db")
    made.write_bytes(b"x" * 1000)
    atomic.publish_file(made, tmp_path / "a.db")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_a_folder_moves_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)
    (tmp_path / "a" / "inner" / "file").write_bytes(b"x")
    (tmp_path / "b").mkdir()
    atomic.move(tmp_path / "a", tmp_path / "b" / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b" / "a" / "inner" / "file").read_bytes() == b"x"


def test_cutting_removes_what_lies_beyond_and_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    atomic.write_file(path, b"12345")
    atomic.cut_file(path, at=10)
    assert path.read_bytes() == b"12345"
    atomic.cut_file(path, at=3)
    assert path.read_bytes() == b"123"


def test_a_file_can_be_removed_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    atomic.write_file(path, b"x")
    atomic.remove_file(path)
    atomic.remove_file(path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_published_for_good_is_not_published(tmp_path: Path) -> None:
    path = tmp_path / "run"
    made = atomic.temporary(path)
    (made / "inner").mkdir(parents=True)
    last_sync = 3
    with at_change(last_sync, no_room) as reached, pytest.raises(OSError, match="scripted"):
        atomic.publish_folder(made, path)
    assert reached()
    assert list(tmp_path.iterdir()) == [made]
    atomic.publish_folder(made, path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_retired_folder_is_hidden_whole_and_its_last_file_goes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    (path / "inner").mkdir(parents=True)
    for name in ("lock", "a", "z", "inner/b"):
        (path / name).write_bytes(b"x")
    retired = atomic.retire_folder(path)
    assert list(tmp_path.iterdir()) == [retired]
    assert atomic.is_temporary(retired.name)
    left_at_unlinks: list[int] = []
    unlink = os.unlink

    def watched(target: str | Path, **options: int) -> None:
        if str(target).endswith("lock"):
            left_at_unlinks.append(len(list(retired.rglob("*"))))
        unlink(target, **options)

    monkeypatch.setattr(os, "unlink", watched)
    atomic.remove_folder(retired, last="lock")
    assert left_at_unlinks == [1]
    assert list(tmp_path.iterdir()) == []


def test_only_temporary_names_are_swept(tmp_path: Path) -> None:
    for name in (".a.json.tmp", "a.json", ".lock", "b.tmp"):
        (tmp_path / name).write_bytes(b"")
    atomic.remove_temporary_files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "a.json", "b.tmp"]
