"""Where isolated calls run, as it is written, and as a call's own spec changes it."""

import json
import re
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from wf_core.calls.policy import IsolationSpec
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.runners import InvalidRunner, Runner, read_runner, runner_for


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ({}, "process"),
        ({"command": ["./worker"]}, "process"),
        ({"image": "local/worker:1"}, "container"),
        ({"url": "https://example.org/run"}, "http"),
        ({"sandbox": "container", "command": "worker"}, "container"),
    ],
)
def test_the_sandbox_follows_from_what_is_written(written: dict[str, JsonValue], where: str) -> None:
    assert read_runner(written).where == where


def test_keys_are_read_in_both_spellings_and_sizes_with_units() -> None:
    camel = read_runner({"timeoutSeconds": 3, "maxOutputBytes": 10, "memory": "2m", "fileSize": "1K"})
    snake = read_runner({"timeout_seconds": 3, "max_output_bytes": 10, "memory": 2097152, "file_size": 1024})
    assert camel == snake


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"imagee": "x"}, r"unknown key imagee \(did you mean image\?\)"),
        ({"image": "x", "url": "http://x"}, "does not go with http"),
        ({"sandbox": "process", "mounts": ["a:/b"]}, "mounts does not go with process"),
        ({"sandbox": "http", "url": "http://x", "command": ["x"]}, "command does not go with http"),
        ({"sandbox": "chroot"}, "sandbox: "),
        ({"memory": "much"}, "memory: write a number of bytes"),
        ({"timeoutSeconds": 0}, "timeoutSeconds: "),
        ({"image": "--privileged"}, "image: "),
        ({"image": "x", "mounts": ["/etc"]}, r"mounts\[0\]: "),
    ],
)
def test_what_is_not_understood_is_named(written: dict[str, JsonValue], says: str) -> None:
    with pytest.raises(InvalidRunner, match=says) as caught:
        read_runner(written)
    assert caught.value.code == "invalid_runner"


def test_every_problem_is_named_and_no_value() -> None:
    with pytest.raises(InvalidRunner) as caught:
        read_runner({"sandbox": "hush-hush", "cpus": "hush-hush", "extra": "hush-hush"})
    assert len(caught.value.details["problems"]) == 3
    assert "hush" not in str(caught.value)


def test_a_spec_changes_what_it_names() -> None:
    runner = read_runner({"image": "a:1", "memory": "1m", "env": {"A": "1"}, "timeoutSeconds": 5})
    spec = IsolationSpec(image="b:1", options={"network": "bridge", "timeoutSeconds": 7})
    changed = runner_for(runner, spec)
    assert changed == Runner(
        sandbox="container", image="b:1", memory=2**20, env={"A": "1"}, timeout_seconds=7, network="bridge"
    )


def test_in_another_sandbox_only_limits_and_engine_still_hold() -> None:
    runner = read_runner({"command": ["./worker"], "env": {"KEY": "${KEY}"}, "memory": "1m", "engine": "podman"})
    changed = runner_for(runner, IsolationSpec(image="b:1"))
    assert changed == Runner(sandbox="container", image="b:1", memory=2**20, engine=["podman"])


def test_an_empty_spec_changes_nothing() -> None:
    runner = read_runner({"command": ["./worker"], "cwd": "."})
    assert runner_for(runner, IsolationSpec()) == runner.model_copy(update={"sandbox": "process"})


def test_options_that_are_not_understood_are_named() -> None:
    with pytest.raises(InvalidRunner, match="the isolation spec: unknown key memori"):
        runner_for(read_runner({}), IsolationSpec(options={"memori": "1m"}))


def test_every_key_is_documented_with_its_default() -> None:
    page = Path(__file__).parents[3] / "docs" / "isolation.md"
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {key: default for key, default in rows if not key.startswith("isolation_")}
    assert set(documented) == {to_camel(name) for name in Runner.model_fields}
    numbers: dict[str, JsonValue] = {
        key: json.loads(documented[key][1:-1]) for key in ("timeoutSeconds", "maxOutputBytes")
    }
    sizes: dict[str, JsonValue] = {key: documented[key][1:-1] for key in ("tmp", "fileSize")}
    written = read_runner({"image": "x", **numbers, **sizes})
    assert written.model_dump() == read_runner({"image": "x"}).model_dump()
