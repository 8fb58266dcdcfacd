"""What a runner takes from where it stands."""

from pathlib import Path

from wf_mcp.config import Config, Redactor
from wf_mcp.isolation.place import Place, no_python, python_workers


def test_our_own_worker_serves_the_python_sources_that_can_be_used(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "pythonSources": {
                "ops": {"module": "my.ops", "path": "${WHERE}"},
                "off": {"module": "off", "enabled": False},
                "lost": {"module": "lost", "path": "${MISSING}"},
            },
            "mcpServers": {"files": {"command": "files"}},
        }
    ).at(None, tmp_path)
    find = python_workers(config, {"WHERE": "lib"})
    worker = find("ops")
    assert worker is not None
    assert (worker.module, worker.path) == ("my.ops", (tmp_path / "lib").resolve())
    assert [find(name) for name in ("off", "lost", "files", "unknown")] == [None] * 4
    assert no_python("ops") is None


def test_the_command_names_the_source_and_what_is_called() -> None:
    config = Config.model_validate({"pythonSources": {"ops": {"module": "mine"}}}).at(None, Path("/srv"))
    worker = python_workers(config, {})("ops")
    assert worker is not None
    words = ["-m", "wf_mcp.isolation.worker", "--module", "ops=mine", "--path", "/srv"]
    assert worker.command("ops", "")[1:] == words
    assert worker.command("ops", "ops.count")[1:] == [*words, "--capability", "ops.count"]


def test_of_our_environment_only_the_harmless_is_passed_on() -> None:
    environ = {"PATH": "/bin", "LANG": "C", "HOME": "/home/me", "OPENAI_API_KEY": "hush"}
    assert Place(Path(), environ, Redactor()).harmless() == {"PATH": "/bin", "LANG": "C"}
