"""Who called whom, and how deep."""

import pytest

from tests.wf_artifacts.samples import record, start_and_release
from tests.wf_artifacts.sessions.samples import session
from tests.wf_core.kernel import NOW
from wf_artifacts.sessions.models import SessionParent
from wf_artifacts.stores import open_stores
from wf_core import CallContext
from wf_core.ids import run_id, session_id
from wf_mcp.execution.callees.family import (
    DEEPEST,
    LOCAL,
    Owner,
    caller_of,
    is_awaited,
    is_wanted,
    owner_of,
    require_shallow,
)

RUN, SESSION = run_id(NOW, 1), session_id(NOW, 2)


def test_a_run_that_a_session_or_a_run_started_names_its_caller() -> None:
    assert caller_of(f"{SESSION}:t2.0") == (SESSION, "t2.0")
    assert caller_of(f"{RUN}:c3") == (RUN, "c3")


@pytest.mark.parametrize("key", [None, "", "today", "run_1:c3", RUN, "order:7"])
def test_a_key_of_somebody_outside_names_nobody(key: str | None) -> None:
    assert caller_of(key) is None


@pytest.mark.anyio
@pytest.mark.parametrize("owner", [RUN, SESSION, "call_1"])
async def test_a_call_of_nobody_who_is_there_has_nobody_around_it(owner: str) -> None:
    async with open_stores("memory://") as stores:
        assert await owner_of(stores, owner) == Owner(LOCAL, auto=False, caller=None)
        context = CallContext(run_id=owner, step_id="s", path=("s",), attempt=1, idempotency_key="k")
        await require_shallow(stores, context, Owner(LOCAL, auto=False, caller=None))
    assert DEEPEST == 8


@pytest.mark.anyio
@pytest.mark.parametrize("status", ["running", "interrupted", "completed"])
async def test_what_a_run_called_is_awaited_while_it_is_not_known_that_the_run_does_not_wait(status: str) -> None:
    """A run that is advanced, or was cut off, may be about to make its call again."""
    called = session(SESSION, status="answered", parent=SessionParent(kind="run", id=RUN))
    async with open_stores("memory://") as stores:
        await start_and_release(stores.runs, record(RUN, status=status))
        assert await is_awaited(stores, called) == (status == "running")
        assert await is_wanted(stores, called) == (status != "completed")
        assert await is_wanted(stores, record(idempotency_key=f"{RUN}:c1")) == (status != "completed")
        assert not await is_wanted(stores, record(idempotency_key="order:7"))
