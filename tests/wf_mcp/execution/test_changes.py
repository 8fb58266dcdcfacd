"""Who hears that a run has changed."""

from wf_mcp.execution.changes import Changes


def test_a_listener_hears_of_changes_while_it_listens() -> None:
    changes = Changes()
    heard: list[str] = []

    with changes.heard_by(heard.append):
        changes.tell("run_1")
    changes.tell("run_2")

    assert heard == ["run_1"]
