"""How a folder that a lock guards stands at one moment."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from wf_artifacts.errors import NotFound
from wf_artifacts.storage.findings import Fault, Finding
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import locked
from wf_artifacts.storage.moments import Moment, settled_faults

FAULT = Fault(Finding("thing", "damaged", "It is damaged.", None))


class Thing:
    """A folder whose record is known by a number."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        self.path = folder / "thing"
        self.lock = self.path / "lock"
        self.number: int | None = 1
        self.path.mkdir()

    def version(self) -> tuple[int, int]:
        if self.number is None:
            raise NotFound("thing", "thing")
        return self.number, 0


@pytest.fixture
def thing(tmp_path: Path) -> Thing:
    return Thing(tmp_path)


def test_a_moment_lasts_until_the_record_changes_or_goes(thing: Thing) -> None:
    moment = Moment(thing)
    assert (moment.held, moment.is_unchanged()) == (False, True)
    thing.number = 2
    assert not moment.is_unchanged()
    thing.number = None
    assert not moment.is_unchanged()
    assert Moment(thing).is_unchanged()


def test_a_moment_lasts_until_somebody_takes_the_lock(thing: Thing) -> None:
    moment = Moment(thing)
    with locked(thing.lock):
        assert Moment(thing).held
        assert not moment.is_unchanged()
    assert moment.is_unchanged()


def test_a_repair_is_made_only_of_what_was_found_and_nobody_holds(thing: Thing) -> None:
    done: list[str] = []
    mend = Moment(thing).mending(lambda: done.append("mended"))
    with locked(thing.lock):
        mend()
    thing.number = 2
    mend()
    assert done == []
    thing.number = 1
    mend()
    assert done == ["mended"]
    thing.lock.unlink()
    thing.path.rmdir()
    mend()
    assert done == ["mended"]


def test_nothing_is_told_of_a_folder_that_moves_on_too_fast(thing: Thing) -> None:
    looks: list[Moment] = []

    def look(moment: Moment) -> Iterator[Fault]:
        looks.append(moment)
        thing.number = len(looks) + 1 if len(looks) <= restless else thing.number
        yield FAULT

    restless = 2
    assert settled_faults(thing, look) == [FAULT]
    assert len(looks) == 3
    looks.clear()
    restless = 9
    assert settled_faults(thing, look) == []
    assert len(looks) == 3
