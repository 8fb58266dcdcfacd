"""The demo as a whole: real processes, a real MCP server as upstream, a real SIGKILL."""

from pathlib import Path

from tests.wf_mcp.cli.terminal import Terminal


def test_the_demo_publishes_what_was_approved_after_its_process_was_killed(tmp_path: Path) -> None:
    notes = tmp_path / "mine"
    notes.mkdir()
    (notes / "idea.md").write_text("# An idea\n\n" + "word " * 60 + "\n\n[nowhere]()\n", encoding="utf-8")
    work = tmp_path / "work"

    ended = Terminal(tmp_path).wf("demo", "--folder", str(notes), "--into", str(work), "--yes")

    assert ended.status == 0, ended.stderr
    said = ended.stdout
    assert "gone, with status -9" in said
    assert said.index("✓ check") < said.index("kill -9") < said.index("✓ publish ")
    assert "# An idea" in (work / "published" / "idea.md").read_text(encoding="utf-8")
    assert [path.name for path in notes.iterdir()] == ["idea.md"]
    assert '"mcpServers"' in said
    assert str(work / "home") in said


def test_the_run_waits_when_nobody_is_there_to_answer(tmp_path: Path) -> None:
    work = tmp_path / "work"

    ended = Terminal(tmp_path).wf("demo", "--into", str(work), given="")

    assert ended.status == 3
    assert "Nobody is here to answer" in ended.stdout
    assert not (work / "published").exists()


def test_a_note_that_is_too_short_is_not_even_asked_about(tmp_path: Path) -> None:
    ended = Terminal(tmp_path).wf("demo", "--note", "shopping.md", "--into", str(tmp_path / "work"))

    assert ended.status == 0
    assert "outcome too_short" in ended.stdout
    assert "kill -9" not in ended.stdout
