"""Who called whom, and how deep."""

import pytest

from tests.wf_core.kernel import NOW
from wf_artifacts.stores import open_stores
from wf_core import CallContext
from wf_core.ids import run_id, session_id
from wf_mcp.execution.callees.family import DEEPEST, LOCAL, Owner, caller_of, owner_of, require_shallow

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
