"""What is still where it was is told from what was moved, removed or replaced."""

import os
from pathlib import Path

import pytest

from wf_artifacts.errors import StoreGone, StoreUnavailable
from wf_artifacts.storage.places import LATELY_SECONDS, Place


def test_what_stays_where_it_is_may_be_used(tmp_path: Path) -> None:
    path = tmp_path / "file"
    place = Place(path, "the file")
    place.require()
    path.write_bytes(b"x")
    for content in (b"y", b"zz"):
        place.require()
        path.write_bytes(content)


@pytest.mark.parametrize("becomes", ["removed", "moved", "replaced", "inside a file"])
def test_what_went_away_may_not_be_used_until_it_is_back(tmp_path: Path, becomes: str) -> None:
    folder, away = tmp_path / "home", tmp_path / "away"
    folder.mkdir()
    path = folder / "file"
    path.write_bytes(b"x")
    place = Place(path, "the file")
    place.require()
    (path if becomes in {"removed", "replaced"} else folder).rename(away)
    if becomes == "replaced":
        path.write_bytes(b"x")
    if becomes == "inside a file":
        folder.write_bytes(b"x")
    with pytest.raises(StoreGone, match="the file: it was moved, removed or replaced") as told:
        place.require()
    assert "Put it back" in str(told.value.hint)
    assert str(tmp_path) not in f"{told.value} {told.value.details}"
    if becomes in {"removed", "replaced"}:
        away.replace(path)
    else:
        folder.unlink(missing_ok=True)
        away.rename(folder)
    place.require()


@pytest.mark.parametrize("earlier", ["nothing", "something"])
def test_what_another_thread_makes_while_one_looks_is_nobodys_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: str
) -> None:
    """One that looked before there was anything is overtaken by one that makes it, and finds it, first."""
    path = tmp_path / "room"
    place = Place(path, "the room")
    if earlier == "something":
        path.mkdir()
    look = os.stat

    def overtaken(looked_at: str) -> os.stat_result:
        monkeypatch.setattr(os, "stat", look)
        try:
            return look(looked_at)
        finally:
            path.mkdir(exist_ok=True)
            place.require()

    monkeypatch.setattr(os, "stat", overtaken)
    place.require()
    path.rename(tmp_path / "away")
    with pytest.raises(StoreGone):
        place.require()


def test_what_is_done_often_does_not_look_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 7.0
    monkeypatch.setattr("wf_artifacts.storage.places.monotonic", lambda: now)
    path = tmp_path / "file"
    path.write_bytes(b"x")
    place = Place(path, "the file")
    place.require_lately()
    path.unlink()
    place.require_lately()
    now += LATELY_SECONDS
    for _ in range(2):
        with pytest.raises(StoreGone):
            place.require_lately()


def test_what_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreUnavailable, match="the file"):
        Place(tmp_path / "loop", "the file").require()
