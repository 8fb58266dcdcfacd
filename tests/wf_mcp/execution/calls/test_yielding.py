"""Calls that are always put off."""

import pytest

from tests.wf_mcp.execution.calls.requests import request
from wf_core.calls.policy import Defer, Disposition, RunIsolated, RunSync
from wf_mcp.execution.calls.protocol import CallYield
from wf_mcp.execution.calls.yielding import yielding_executor

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("disposition", "put_off"),
    [
        (Defer("later", expires_seconds=5), CallYield("call_1", None, "deferred", "later", 5)),
        (Defer("it writes", approval=True), CallYield("call_1", None, "approval", "it writes")),
        (RunIsolated(), CallYield("call_1", None, "isolated", "isolated")),
        (RunSync(), CallYield("call_1", None, "deferred", "put off")),
    ],
)
async def test_every_call_is_put_off_and_nothing_is_carried_out(disposition: Disposition, put_off: CallYield) -> None:
    executor = yielding_executor()
    assert await executor.exec_async(request(disposition=disposition)) == put_off
    ended = await executor.exec_sync(request(disposition=disposition))
    assert (ended.code, ended.executed) == ("not_supported", False)
