"""What crosses from a source into runs, traces and messages."""

from pathlib import Path

import pytest

from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import LONGEST_TEXT, presentable, take_in
from wf_mcp.sources.errors import CallFailed


def test_what_is_taken_in_is_a_copy_without_secrets(redactor: Redactor) -> None:
    value = {"items": ["sesame-street"]}

    taken = take_in(value, redactor)
    value["items"].clear()

    assert taken == {"items": ["[redacted]"]}
    assert take_in(value, Redactor()) is not value


def test_what_is_no_json_is_refused_and_not_shown(redactor: Redactor) -> None:
    with pytest.raises(CallFailed, match=r"output\.items\[1\]") as refused:
        take_in({"items": [1, {"sesame-street"}]}, redactor)
    assert (refused.value.code, refused.value.executed) == ("output_invalid", True)
    assert "sesame" not in str(refused.value)


def test_folders_of_this_host_are_left_out_of_messages(tmp_path: Path, redactor: Redactor) -> None:
    path = tmp_path / "note.md"

    assert presentable(f"cannot open '{path}': no", redactor) == "cannot open 'note.md': no"
    assert presentable(f"see file://{path}", redactor) == "see file://note.md"
    assert presentable(f"{path}:12: error", redactor) == "note.md:12: error"


def test_what_only_looks_like_a_path_stays(redactor: Redactor) -> None:
    for text in ("GET /api/users/7 failed", "https://example.com/etc/passwd", "a/b/c", "either/or", "1 / 2"):
        assert presentable(text, redactor) == text


def test_messages_are_bounded_utf8_without_secrets(redactor: Redactor) -> None:
    assert presentable("bad \ud800 sesame-street", redactor) == "bad ? [redacted]"
    assert len(presentable("x" * 10_000, redactor)) == LONGEST_TEXT + 1
