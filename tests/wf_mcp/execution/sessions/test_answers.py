"""What the outside may say to which call."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.sessions.workplace import ME, result_of
from tests.wf_mcp.scripted import opened
from wf_artifacts.calls.models import Continuation, ContinuationKind
from wf_core.errors import InvalidResult, PersonRequired, WrongAnswerKind
from wf_core.jsonvalue import MAX_DEPTH, JsonValue
from wf_mcp.execution.sessions.answers import deliver

pytestmark = pytest.mark.anyio

TOKEN = "call_" + 26 * "A"
REFUSAL: JsonValue = {"type": "text", "content": "No.", "error": True}


def waiting(kind: ContinuationKind) -> Continuation:
    return Continuation(
        token=TOKEN,
        session_id="sess_1",
        principal=ME,
        call_id="t2.0",
        name="write",
        arguments={},
        kind=kind,
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("kind", "fitting"),
    [
        ("deferred", {"result"}),
        ("callee", {"result"}),
        ("isolated", {"result", "retry"}),
        ("approval", {"approval"}),
        ("in_doubt", {"result", "retry"}),
    ],
)
async def test_a_call_takes_the_answers_that_fit_what_it_waits_for_and_a_refusal(kind: Any, fitting: set[str]) -> None:
    taken: set[str] = set()
    for given in ("result", "approval", "retry"):
        async with opened() as app:
            await app.stores.continuations.put(waiting(kind))
            means, delivery = app.sessions.means, result_of("done", kind=given)
            try:
                assert await deliver(means, TOKEN, delivery, principal=ME, by_model=False) == "sess_1"
                taken.add(given)
            except WrongAnswerKind:
                await deliver(means, TOKEN, result_of(REFUSAL), principal=ME, by_model=False)
    assert taken == fitting


@pytest.mark.parametrize("kind", ["approval", "in_doubt", "callee"])
async def test_what_a_person_decides_a_model_may_not_say_not_even_no(kind: Any) -> None:
    async with opened() as app:
        await app.stores.continuations.put(waiting(kind))
        with pytest.raises(PersonRequired):
            await deliver(app.sessions.means, TOKEN, result_of(REFUSAL), principal=ME, by_model=True)


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
async def test_a_result_too_deep_is_refused_at_the_door_and_the_call_still_waits(levels: int) -> None:
    value = nested(levels)
    async with opened() as app:
        for given in (value, {"type": "json", "content": value}):
            await app.stores.continuations.put(waiting("deferred"))
            means = app.sessions.means
            if levels > MAX_DEPTH:
                with pytest.raises(InvalidResult, match=f"deeper than {MAX_DEPTH} levels"):
                    await deliver(means, TOKEN, result_of(given), principal=ME, by_model=False)
                stored = await app.stores.continuations.load(TOKEN, principal=ME, now=app.clock.now())
                assert stored.state == "open"
        if levels <= MAX_DEPTH:
            assert await deliver(means, TOKEN, result_of(given), principal=ME, by_model=False) == "sess_1"
