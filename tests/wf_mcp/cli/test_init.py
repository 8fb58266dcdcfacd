"""`wf init`: a first workflow that can be run at once."""

from pathlib import Path

from tests.wf_mcp.cli.terminal import Terminal


def test_what_is_written_can_be_saved_deployed_and_run(tmp_path: Path) -> None:
    folder = tmp_path / "first"
    terminal = Terminal(folder)

    said = terminal.wf("init", str(folder))
    saved = terminal.wf("artifacts", "save", "publish_note", str(folder / "publish_note.json"))
    deployed = terminal.wf("deployments", "create", "publish", "publish_note", "--json")
    started = terminal.wf("runs", "start", "publish", "--input", '{"note": "heat-pump.md"}', "--json")

    assert f"cd {folder}" in said.stdout
    assert saved.status == 0
    assert deployed.json["runnable"]
    assert started.status == 3
    assert started.json["interrupt"]["payload"]["count"]["links"] == 1


def test_a_folder_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text("mine", encoding="utf-8")

    ended = Terminal(tmp_path).wf("init", str(tmp_path))

    assert ended.status == 2
    assert (tmp_path / "wf.json").read_text(encoding="utf-8") == "mine"
