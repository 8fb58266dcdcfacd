"""Which sandbox carries a call out."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.isolation.calls import MISBEHAVING, Marked, execute
from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import JsonContent
from wf_mcp.config import Redactor
from wf_mcp.isolation import InvalidRunner, IsolationError, open_runner


def test_a_runner_goes_by_its_sandbox_and_starts_nothing() -> None:
    configs = [None, {"image": "x:1"}, {"url": "http://nowhere.invalid"}]
    runners = [open_runner(config, folder=Path(), redactor=Redactor()) for config in configs]
    assert [runner.name for runner in runners] == ["process", "container", "http"]


def test_what_is_not_understood_is_refused_before_any_call() -> None:
    with pytest.raises(InvalidRunner, match="unknown key comand"):
        open_runner({"comand": ["x"]}, folder=Path(), redactor=Redactor())


def test_secrets_of_the_runner_are_kept_from_the_start() -> None:
    redactor = Redactor()
    config: dict[str, Any] = {"env": {"A": "${KEY}", "B_TOKEN": "in-place-1", "C": "no secret"}}
    open_runner(config, folder=Path(), redactor=redactor, environ={"KEY": "hush-hush-1"})
    assert redactor.text("hush-hush-1 in-place-1 no secret") == "[redacted] [redacted] no secret"


@pytest.mark.anyio
async def test_the_spec_of_a_call_goes_before_the_runner(marked: Marked) -> None:
    """The runner would post; the call runs in a process."""
    runner = open_runner({"url": "http://127.0.0.1:9/"}, folder=marked.folder, redactor=Redactor())
    spec = IsolationSpec("process", options={"command": [sys.executable, str(MISBEHAVING), "never reads"]})
    assert (await execute(runner, spec=spec)).content == JsonContent("done")


@pytest.mark.anyio
async def test_the_shorter_time_limit_holds(marked: Marked) -> None:
    runner = marked.misbehaving("processor", timeoutSeconds=0.5)
    with pytest.raises(IsolationError, match=r"after 0\.5 seconds"):
        await execute(runner, timeout_seconds=40)
    with pytest.raises(IsolationError, match=r"after 0\.2 seconds"):
        await execute(runner, timeout_seconds=0.2)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (IsolationSpec(options={"memori": "1m"}), "unknown key memori"),
        (IsolationSpec("container"), "image is missing, which container needs"),
        (IsolationSpec("http"), "url is missing, which http needs"),
        (IsolationSpec(options={"env": {"A": "${MISSING}"}}), "needs MISSING"),
    ],
)
async def test_a_spec_that_cannot_be_used_has_certainly_stopped_the_call(spec: IsolationSpec, says: str) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(open_runner(None, folder=Path(), redactor=Redactor(), environ={}), spec=spec)
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)
