"""`wf store`."""

from tests.wf_mcp.cli.terminal import Terminal
from wf_artifacts.stores import open_stores


def test_a_store_is_copied_and_used(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(3).json["run_id"]
    source = (terminal.folder / "home").as_uri()
    target = f"sqlite:///{terminal.folder}/wf.db"

    copied = terminal.wf("store", "copy", source, target)
    again = terminal.wf("store", "copy", source, target, "--json")
    (terminal.folder / "wf.json").write_text(
        f'{{"store": "{target}", "pythonSources": {{"ops": {{"module": "ops"}}}}}}', encoding="utf-8"
    )
    answered = terminal.wf("runs", "resume", run_id, "--outcome", "yes", "--payload", '{"why": "fine"}', "--json")

    assert copied.status == 0
    assert "runs" in copied.stdout
    assert (again.status, again.json["error"]["code"]) == (2, "invalid_argument")
    assert (answered.status, answered.json["output"]) == (0, {"why": "fine"})


def test_a_copy_to_where_another_is_copied_ends_with_status_5(terminal: Terminal) -> None:
    terminal.deploy()
    source, target = (terminal.folder / "home").as_uri(), f"sqlite:///{terminal.folder}/wf.db"
    other = open_stores(target, to_copy_to=True)
    assert other.target is not None
    assert other.shut is not None
    other.target.hold()

    refused = terminal.wf("store", "copy", source, target, "--json")
    other.shut()

    assert (refused.status, refused.json["error"]["code"]) == (5, "store_busy")
    assert "once that copy has ended" in refused.json["error"]["hint"]
    assert terminal.wf("store", "copy", source, target).status == 0


def test_what_is_left_out_is_told_and_ends_with_status_4(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(2).json["run_id"]
    (terminal.folder / "home" / "runs" / run_id / "run.json").write_text("{", encoding="utf-8")

    copied = terminal.wf("store", "copy", (terminal.folder / "home").as_uri(), (terminal.folder / "new").as_uri())

    assert copied.status == 4
    assert "Left out" in copied.stdout
    assert run_id in copied.stdout
