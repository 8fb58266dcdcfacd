"""A fault is told only if it is there when nobody is at work, and what is taken away is kept."""

from pathlib import Path

import pytest

from wf_artifacts.storage.findings import Fault, Finding, LostAndFound, confirmed, stray, unreadable
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import is_locked
from wf_core.errors import FormatTooNew, StateCorrupt


@pytest.fixture
def lost(tmp_path: Path) -> LostAndFound:
    return LostAndFound(Home(tmp_path))


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_is_moved_keeps_its_path_and_its_namesakes(tmp_path: Path, lost: LostAndFound) -> None:
    for content in ("a", "b"):
        (tmp_path / "runs" / "x").mkdir(parents=True)
        (tmp_path / "runs" / "x" / "file").write_text(content, encoding="utf-8")
        lost.move(tmp_path / "runs" / "x")
    assert names(tmp_path) == ["lost+found/runs/x.1/file", "lost+found/runs/x/file"]


def test_what_is_cut_off_is_kept(tmp_path: Path, lost: LostAndFound) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"whole and torn")
    lost.cut(path, at=5)
    assert path.read_bytes() == b"whole"
    assert (tmp_path / "lost+found" / "file").read_bytes() == b" and torn"


def test_a_damaged_document_says_why_and_what_a_repair_does() -> None:
    error = StateCorrupt("The document is damaged.", details={"reason": "it is empty"})
    assert unreadable("a.json", error, "Moves it.").finding == Finding(
        "a.json", "damaged", "It is damaged: it is empty.", "Moves it."
    )


def test_what_a_newer_version_wrote_is_never_repaired() -> None:
    fault = unreadable("a.json", FormatTooNew(document="a", found=2, supported=1), "Moves it.", lambda: None)
    assert (fault.finding.kind, fault.finding.repair, fault.mend) == ("newer", None, None)


@pytest.mark.parametrize(("name", "kind"), [(".a.json.tmp", "leftover"), ("a.json", "unknown")])
def test_a_file_that_belongs_to_nothing_is_moved(tmp_path: Path, lost: LostAndFound, name: str, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"x")
    fault = stray(name, path, lost)
    assert fault.finding.kind == kind
    assert fault.mend is not None
    fault.mend()
    assert names(tmp_path) == [f"lost+found/{name}"]


def test_a_fault_is_judged_and_mended_under_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    judged: list[bool] = []
    mended: list[bool] = []
    finding = Finding("a", "damaged", "", "")

    def judge() -> Fault | None:
        judged.append(is_locked(lock))
        return Fault(finding, lambda: mended.append(is_locked(lock)))

    (fault,) = confirmed(judge, lock)
    assert fault.finding == finding
    assert judged == [False, True]
    assert fault.mend is not None
    fault.mend()
    assert mended == [True]


@pytest.mark.parametrize("last", [0, 1, 2])
def test_a_fault_that_is_gone_is_neither_told_nor_mended(tmp_path: Path, last: int) -> None:
    """Somebody was in the middle of something."""
    mended: list[str] = []
    verdicts = [Fault(Finding("a", "leftover", "", ""), lambda: mended.append("a"))] * last + [None]

    found = list(confirmed(lambda: verdicts.pop(0), tmp_path / ".lock"))
    assert len(found) == (last == 2)
    for fault in found:
        assert fault.mend is not None
        fault.mend()
    assert mended == []


def test_a_fault_that_nobody_can_mend_has_no_mending(tmp_path: Path) -> None:
    (fault,) = confirmed(lambda: Fault(Finding("a", "orphaned", "", None)), tmp_path / ".lock")
    assert fault.mend is None
