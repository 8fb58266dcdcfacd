"""An index that leaves records out, or names those that are gone, is named; what lies among them too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wf_artifacts.sessions.samples import new_session_id, session
from wf_artifacts.sessions.files.folder import Found
from wf_artifacts.sessions.files.index import SessionIndex
from wf_artifacts.storage.findings import Fault, LostAndFound
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.list_faults import index_faults, stray_faults
from wf_core.errors import StateCorrupt
from wf_core.ids import SessionId


class Sessions:
    """What there is, and an index of it."""

    def __init__(self, home: Path) -> None:
        self.found: dict[SessionId, Found] = {}
        self.home = Home(home)
        self.index = SessionIndex(self.home, self.found.items)

    def faults(self) -> list[Fault]:
        return list(index_faults(self.index, "sessions", list(self.found), self.found.get))

    def stray(self, path: Path) -> list[Fault]:
        return list(stray_faults(self.home, self.index, path, LostAndFound(self.home)))


@pytest.fixture
def sessions(home: Path) -> Iterator[Sessions]:
    sessions = Sessions(home)
    sessions.found[new_session_id(1)] = session(new_session_id(1))
    sessions.found[new_session_id(2)] = StateCorrupt("scripted")
    yield sessions
    sessions.index.close()


def problems(faults: list[Fault]) -> list[tuple[str, str, str]]:
    return [(fault.finding.document, fault.finding.kind, fault.finding.problem) for fault in faults]


def mend(faults: list[Fault]) -> None:
    for fault in faults:
        assert fault.mend is not None
        fault.mend()


def test_nothing_is_wrong_with_one_that_was_made_from_what_there_is(sessions: Sessions) -> None:
    assert sessions.faults() == []


def test_one_that_leaves_records_out_is_made_anew(sessions: Sessions) -> None:
    assert sessions.faults() == []
    sessions.found[new_session_id(3)] = session(new_session_id(3))
    sessions.found[new_session_id(1)] = session(new_session_id(1), status="failed")
    faults = sessions.faults()
    assert problems(faults) == [("index/sessions", "damaged", "It does not name every list that 2 sessions belong to.")]
    mend(faults)
    assert sessions.faults() == []


def test_one_that_names_what_is_gone_is_made_anew(sessions: Sessions) -> None:
    assert sessions.faults() == []
    del sessions.found[new_session_id(1)]
    faults = sessions.faults()
    assert problems(faults) == [("index/sessions", "leftover", "It names 1 sessions that are gone.")]
    mend(faults)
    assert sessions.faults() == []


def test_what_somebody_is_changing_is_no_fault(sessions: Sessions) -> None:
    assert sessions.faults() == []
    with sessions.index.becoming(session(new_session_id(4))):
        assert sessions.faults() == []


def test_what_lies_among_the_records_is_moved_unless_somebody_may_be_at_it(home: Path, sessions: Sessions) -> None:
    left = home / "sessions" / ".one.tmp"
    assert sessions.stray(left) == []
    left.mkdir(parents=True)
    with sessions.index.vanishing(new_session_id(1)):
        assert sessions.stray(left) == []
    (fault,) = faults = sessions.stray(left)
    assert (fault.finding.document, fault.finding.kind) == ("sessions/.one.tmp", "leftover")
    with sessions.index.vanishing(new_session_id(1)):
        mend(faults)
        assert left.exists()
    mend(faults)
    assert not left.exists()
    assert (home / "lost+found" / "sessions" / ".one.tmp").is_dir()
