"""Where isolated calls run, as it is written, and as a call's own spec changes it."""

import json
import re
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from wf_core.calls.policy import IsolationSpec
from wf_core.calls.policy_data import read_policy
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.runners import InvalidRunner, Runner, isolation_faults, names_worker, read_runner, runner_for


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
        ({"command": ["", "x"]}, "command: the name of the program is empty"),
        ({"image": "x", "engine": []}, "engine: "),
        ({"image": "x", "engine": ""}, "engine: the name of the program is empty"),
        ({"env": {"A=B": "x"}}, r"env\.A=B: "),
        ({"url": "https://"}, "url: "),
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


@pytest.mark.parametrize(
    ("runner", "spec", "where"),
    [
        ({"command": ["./worker"]}, IsolationSpec(options={"url": "http://x"}), "http"),
        ({"sandbox": "http"}, IsolationSpec(options={"url": "http://x"}), "http"),
        ({"sandbox": "container"}, IsolationSpec(image="b:1"), "container"),
        ({"image": "b:1"}, IsolationSpec(), "container"),
    ],
)
def test_a_spec_may_name_its_sandbox_by_what_only_that_needs(
    runner: dict[str, JsonValue], spec: IsolationSpec, where: str
) -> None:
    assert runner_for(read_runner(runner), spec).where == where


@pytest.mark.parametrize(
    ("runner", "spec", "lack"),
    [
        ({"sandbox": "http"}, IsolationSpec(), "url is missing, which http needs"),
        ({"sandbox": "container"}, IsolationSpec(), "image is missing, which container needs"),
        ({"image": "b:1"}, IsolationSpec("http"), "url is missing, which http needs"),
        ({"url": "http://x"}, IsolationSpec("container"), "image is missing, which container needs"),
    ],
)
def test_what_a_sandbox_needs_is_in_the_runner_or_in_the_spec(
    runner: dict[str, JsonValue], spec: IsolationSpec, lack: str
) -> None:
    with pytest.raises(InvalidRunner) as caught:
        runner_for(read_runner(runner), spec)
    assert caught.value.details["problems"] == [lack]


@pytest.mark.parametrize(
    ("runner", "specs", "places"),
    [
        ({}, [{}, {"sandbox": "process"}, {"image": "b:1"}], []),
        ({"sandbox": "http"}, [], ["runner"]),
        ({"sandbox": "http"}, [{"url": "http://x"}], []),
        ({"sandbox": "http"}, [{"sandbox": "process"}], ["runner"]),
        ({"sandbox": "container"}, [{"image": "b:1"}, {}], ["policy.rules[1].disposition"]),
        ({}, [{"sandbox": "http"}, {"memori": 1}], ["policy.rules[0].disposition", "policy.rules[1].disposition"]),
    ],
)
def test_a_policy_and_a_runner_are_judged_together(
    runner: dict[str, JsonValue], specs: list[dict[str, JsonValue]], places: list[str]
) -> None:
    dispositions = [{"tag": "decorate", "inner": {"tag": "runIsolated", "spec": spec}} for spec in specs]
    policy = read_policy({"rules": [{"tool": "x", "disposition": one} for one in dispositions]})
    faults = isolation_faults(policy, read_runner(runner), where="policy")
    assert [place for place, _ in faults] == places


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ({}, False),
        ({"memory": "1m"}, False),
        ({"sandbox": "process"}, False),
        ({"sandbox": "process", "command": ["./worker"]}, True),
        ({"image": "b:1"}, True),
        ({"url": "http://x"}, True),
        ({"command": ["./worker"]}, True),
        ({"sandbox": "container"}, True),
    ],
)
def test_limits_and_a_process_alone_do_not_say_what_carries_a_call_out(
    written: dict[str, JsonValue], names: bool
) -> None:
    rest = {key: value for key, value in written.items() if key not in {"sandbox", "image"}}
    spec = IsolationSpec(written.get("sandbox"), written.get("image"), rest)  # type: ignore[arg-type]
    assert (names_worker(written, IsolationSpec()), names_worker({}, spec)) == (names, names)


def test_a_spec_of_another_sandbox_leaves_the_worker_of_the_runner_behind() -> None:
    assert not names_worker({"image": "b:1"}, IsolationSpec(sandbox="process"))
    assert names_worker({"command": ["./worker"]}, IsolationSpec(sandbox="process"))


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
