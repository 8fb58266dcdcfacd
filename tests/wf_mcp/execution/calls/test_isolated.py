"""Calls that a worker makes."""

import json
from typing import Any

import pytest

from tests.wf_mcp.execution.calls.requests import request
from wf_core.calls.policy import Decorate, IsolationSpec, RunIsolated, WithTimeout
from wf_core.calls.results import ToolResult, as_text, text_result
from wf_mcp.execution.calls.isolated import NO_RUNNER, isolated_executor
from wf_mcp.execution.calls.protocol import CallYield
from wf_mcp.isolation import IsolationError

pytestmark = pytest.mark.anyio

SPEC = IsolationSpec("container", "local/worker:1")


class Noting:
    """A runner that notes what it is asked, and answers or fails at once."""

    name = "noting"

    def __init__(self, error: IsolationError | None = None) -> None:
        self.asked: list[tuple[IsolationSpec, Any, str, str, float | None]] = []
        self._error = error

    async def execute(
        self,
        spec: IsolationSpec,
        request: bytes,
        token: str,
        *,
        capability: str = "",
        timeout_seconds: float | None = None,
    ) -> ToolResult:
        self.asked.append((spec, json.loads(request), token, capability, timeout_seconds))
        if self._error is not None:
            raise self._error
        return text_result("from there")


async def test_a_runner_gets_the_envelope_the_spec_and_the_shortest_time_limit() -> None:
    runner = Noting()
    disposition = Decorate((WithTimeout(9), WithTimeout(3)), RunIsolated(SPEC))
    ended = await isolated_executor(runner).exec_sync(request(disposition=disposition, n=1))
    assert ended.result == text_result("from there")
    ((spec, envelope, token, capability, seconds),) = runner.asked
    assert (spec, token, capability, seconds) == (SPEC, "call_1", "ops.echo", 3)
    assert envelope["token"] == "call_1"
    assert envelope["toolCall"] == {"name": "echo", "arguments": {"n": 1}}
    assert envelope["policy"]["spec"] == {"image": "local/worker:1", "sandbox": "container"}


async def test_a_worker_that_gives_no_answer_fails_its_call() -> None:
    runner = Noting(IsolationError("isolation_timeout", "It took too long.", executed=True))
    ended = await isolated_executor(runner).exec_sync(request(disposition=RunIsolated()))
    assert (ended.code, ended.executed, ended.result.error) == ("isolation_timeout", True, True)
    assert as_text(ended.result) == "isolation_timeout: It took too long. It may have had its effect."


async def test_a_call_is_put_off_until_its_turn_and_says_where_nobody_can_carry_it_out() -> None:
    asked = request(disposition=RunIsolated())
    assert await isolated_executor(Noting()).exec_async(asked) == CallYield("call_1", None, "isolated", "isolated")
    assert await isolated_executor(None).exec_async(asked) == CallYield("call_1", None, "isolated", NO_RUNNER)
    ended = await isolated_executor(None).exec_sync(asked)
    assert (ended.code, ended.executed) == ("runner_missing", False)
