"""Limits and repetitions around a call."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.calls.requests import request
from wf_core.calls.policy import Decorate, Decorator, RunSync, WithLabel, WithRetries, WithTimeout
from wf_core.calls.results import text_result
from wf_mcp.execution.calls import decorated as module
from wf_mcp.execution.calls.decorated import decorated
from wf_mcp.execution.calls.protocol import CallComplete, CallRequest
from wf_mcp.execution.calls.rendering import failed

pytestmark = pytest.mark.anyio


def failing_first(times: int, *, executed: bool, seen: list[int]) -> Callable[[CallRequest], Awaitable[CallComplete]]:
    async def attempt(request: CallRequest) -> CallComplete:
        seen.append(request.attempt)
        if len(seen) <= times:
            return failed("no_luck", "It broke.", executed=executed)
        return CallComplete(text_result("done"))

    return attempt


def decorating(*decorators: Decorator) -> Decorate:
    return Decorate(decorators, RunSync())


@pytest.mark.parametrize(
    ("executed", "repeatable", "attempts"), [(False, False, [1, 2, 3]), (True, True, [1, 2, 3]), (True, False, [1])]
)
async def test_a_call_is_repeated_only_where_it_did_not_execute_or_may_be_repeated(
    monkeypatch: Any, *, executed: bool, repeatable: bool, attempts: list[int]
) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY_SECONDS", 0.0)
    seen: list[int] = []
    asked = request(disposition=decorating(WithRetries(3)), repeatable=repeatable)
    ended = await decorated(failing_first(2, executed=executed, seen=seen), asked)
    assert (seen, ended.result.error) == (attempts, attempts == [1])


async def test_a_call_is_repeated_as_often_as_its_policy_says_at_most(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY_SECONDS", 0.0)
    seen: list[int] = []
    asked = request(disposition=decorating(WithRetries(2)))
    assert (await decorated(failing_first(9, executed=False, seen=seen), asked)).code == "no_luck"
    assert len(seen) == 3


async def test_the_outermost_decoration_holds_around_the_inner_ones() -> None:
    async def slow(request: CallRequest) -> CallComplete:
        await anyio.sleep(0.03 if request.attempt == 1 else 0)
        return CallComplete(text_result("done"))

    limit, repeat = WithTimeout(0.01), WithRetries(1)
    each = request(disposition=decorating(repeat, WithLabel("careful"), limit), repeatable=True)
    assert not (await decorated(slow, each)).result.error
    whole = request(disposition=decorating(limit, repeat), repeatable=True)
    assert (await decorated(slow, whole)).code == "timeout"
