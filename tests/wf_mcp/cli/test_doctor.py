"""`wf doctor`."""

import json
import shutil

from tests.documents import resealed
from tests.wf_mcp.cli.terminal import Terminal


def test_a_healthy_place_is_said_to_be_healthy(terminal: Terminal) -> None:
    terminal.deploy()
    terminal.start(2)

    ended = terminal.wf("doctor", "--json")

    assert ended.status == 0
    checks = {check["name"]: check["message"] for check in ended.json["checks"]}
    assert checks["runs"] == "1 readable"
    assert checks["source ops"] == "offers 2 capabilities"


def test_a_damaged_run_is_found_and_the_others_are_still_counted(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(2).json["run_id"]
    terminal.start(4)
    (terminal.folder / "home" / "runs" / run_id / "run.json").write_text("{", encoding="utf-8")

    ended = terminal.wf("doctor")

    assert ended.status == 4
    assert "1 readable" in ended.stdout
    assert f"runs/{run_id}/run.json is damaged" in ended.stdout
    assert "wf doctor --repair" in ended.stdout


def test_a_repair_keeps_what_it_takes_away_and_leaves_a_healthy_place(terminal: Terminal) -> None:
    terminal.deploy()
    damaged, whole = terminal.start(3).json["run_id"], terminal.start(2).json["run_id"]
    home = terminal.folder / "home"
    (home / "runs" / damaged / "run.json").write_text("{", encoding="utf-8")
    (home / "runs" / whole / "journal" / "notes.txt").write_text("none of ours", encoding="utf-8")

    named = terminal.wf("doctor", "--json")
    repaired = terminal.wf("doctor", "--repair", "--json")
    again = terminal.wf("doctor", "--json")

    found = [check["message"].split(" ")[0] for check in named.json["checks"] if check["name"] == "store"]
    assert sorted(found) == sorted([f"runs/{damaged}/run.json", f"runs/{whole}/journal/notes.txt"])
    assert (named.status, repaired.status, again.status) == (4, 0, 0)
    assert [check["status"] for check in repaired.json["checks"] if check["name"] == "store"] == ["ok", "ok"]
    assert [check for check in again.json["checks"] if check["name"] == "store"] == []
    assert (home / "lost+found" / "runs" / damaged / "run.json").read_text(encoding="utf-8") == "{"
    assert (home / "lost+found" / "runs" / whole / "journal" / "notes.txt").exists()


def test_what_a_crash_leaves_is_no_error_and_needs_nothing_done(terminal: Terminal) -> None:
    terminal.deploy()
    key = terminal.wf("runs", "start", "parity", "--input", '{"n": 2}', "--key", "k", "--json")
    run_id = terminal.start(2).json["run_id"]
    home = terminal.folder / "home"
    shutil.rmtree(home / "runs" / key.json["run_id"])  # as when a kill comes between a run and its key
    run = home / "runs" / run_id
    next((run / "checkpoints").glob("*.json")).with_name("000099.json").write_text("{", encoding="utf-8")
    with next((run / "journal").iterdir()).open("ab") as journal:
        journal.write(b"torn")

    ended = terminal.wf("doctor", "--json")

    assert ended.status == 0
    store = [check for check in ended.json["checks"] if check["name"] == "store"]
    assert len(store) == 4, store
    assert {check["status"] for check in store} == {"warning"}
    assert all("leftover" in check["message"] and "Nothing need be done" in check["hint"] for check in store)


def test_what_no_repair_can_mend_stays_an_error(terminal: Terminal) -> None:
    terminal.deploy()
    (terminal.folder / "home" / "artifacts" / "parity" / "000001.json").unlink()

    ended = terminal.wf("doctor", "--repair", "--json")

    assert ended.status == 4
    left = next(check for check in ended.json["checks"] if check["name"] == "store")
    assert left["message"].startswith("deployments/parity.json is orphaned")
    assert (terminal.folder / "home" / "deployments" / "parity.json").exists()


def test_a_home_that_holds_a_part_of_a_copy_is_named_and_used_by_nobody(terminal: Terminal) -> None:
    terminal.deploy()
    (terminal.folder / "home" / "unfinished-copy").touch()

    ended = terminal.wf("doctor", "--repair")
    refused = terminal.start(2)

    assert ended.status == 4
    assert "part of a copy that has not come to its end" in ended.stdout
    assert "wf store copy" in ended.stdout
    assert (refused.status, refused.json["error"]["code"]) == (4, "store_unavailable")


def test_a_source_that_does_not_load_is_found(terminal: Terminal) -> None:
    (terminal.folder / "ops.py").write_text("import nothing_of_that_name", encoding="utf-8")

    ended = terminal.wf("doctor", "--json")

    assert ended.status == 4
    assert not ended.json["healthy"]
    assert [check["name"] for check in ended.json["checks"] if check["status"] == "error"] == ["source ops"]


def test_a_deployment_that_a_start_would_refuse_is_found(terminal: Terminal) -> None:
    policy = {"rules": [{"tool": "parity", "disposition": {"tag": "runSync"}}]}
    terminal.deploy()
    terminal.wf("deployments", "create", "parity", "parity", "--replace", "--call-policy", json.dumps(policy))
    assert terminal.wf("doctor").status == 0
    file = terminal.folder / "home" / "deployments" / "parity.json"
    file.write_bytes(resealed(file.read_bytes().replace(b"runSync", b"runSinc")))

    ended = terminal.wf("doctor", "--json")

    (refused,) = [check for check in ended.json["checks"] if check["status"] == "error"]
    assert (ended.status, refused["name"]) == (4, "deployment parity")
    assert "invalid_policy" in refused["message"]
    assert "invalid_policy" in terminal.start(2).stdout


def test_a_configuration_that_cannot_be_used_is_one_finding_among_others(terminal: Terminal) -> None:
    (terminal.folder / "wf.json").write_text(json.dumps({"pythonSource": {}}), encoding="utf-8")

    ended = terminal.wf("doctor")

    assert ended.status == 4
    assert "✓  versions" in ended.stdout
    assert "pythonSources" in ended.stdout


def test_a_home_that_cannot_be_written_is_found(terminal: Terminal) -> None:
    (terminal.folder / "home").write_text("a file", encoding="utf-8")

    ended = terminal.wf("doctor", "--json")

    assert ended.status == 4
    assert "is not writable" in ended.stdout
