"""A document is opened, or it is said at once why it cannot be."""

from pathlib import Path

import pytest

from tests.wf_artifacts.obstacles import OBSTACLES
from wf_artifacts.errors import DocumentUnreadable
from wf_artifacts.storage.reading import open_document
from wf_core.errors import StateCorrupt


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")
    with open_document(path, "a.json") as file:
        assert file.read() == b"{}"
    with pytest.raises(FileNotFoundError):
        open_document(tmp_path / "b.json", "b.json")


@pytest.mark.parametrize(
    ("obstacle", "error"),
    [("folder", StateCorrupt), ("pipe", StateCorrupt), ("socket", StateCorrupt), ("loop", DocumentUnreadable)],
)
def test_what_is_no_file_is_told_at_once(tmp_path: Path, obstacle: str, error: type[Exception]) -> None:
    OBSTACLES[obstacle](tmp_path / "a.json")
    with pytest.raises(error, match=r"a\.json") as told:
        open_document(tmp_path / "a.json", "a.json")
    assert str(tmp_path) not in str(told.value)
