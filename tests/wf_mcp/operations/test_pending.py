"""What waits for the outside."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import Gate, ScriptedSource, ask, environment, node, opened, plan, start
from wf_artifacts.errors import InvalidCursor, RunNotFound
from wf_core.runtime import Answer
from wf_mcp.app import App
from wf_mcp.operations.caller import LOCAL_PERSON, Caller
from wf_mcp.operations.models import PendingList
from wf_mcp.operations.pending import list_pending

pytestmark = pytest.mark.anyio

EACH = plan(
    {
        "each": {"type": "foreach", "over": "input.items", "as": "item", "mode": "concurrent", "max_active": 8,
                 "routes": {"loop": "ask", "done": "__end__"}},
        "ask": ask(request={"item": {"path": "context.item"}}),
    }
)  # fmt: skip
"""One question for each item, all open at once."""


async def asking(app: App, count: int, principal: str = "local") -> str:
    """Start a run that stops with so many questions."""
    pinned = await environment(app, EACH)
    items: list[Any] = list(range(count))
    handle = await app.runs.start(pinned, {"items": items}, principal=principal, idempotency_key=None)
    with anyio.fail_after(5):
        await app.runs.wait(handle, seconds=5)
    return handle.run_id


def told(pending: PendingList) -> list[tuple[str, str]]:
    return [(item.run_id, item.interrupt.id) for item in pending.pending if item.interrupt is not None]


async def test_every_open_question_is_listed_newest_run_first_and_says_how_it_is_answered() -> None:
    async with opened() as app:
        first, second = await asking(app, 2), await asking(app, 1)
        listed = await list_pending(app)
    assert told(listed) == [(second, "int_1"), (first, "int_1"), (first, "int_2")]
    assert listed.next_cursor is None
    newest = listed.pending[0]
    assert (newest.type, newest.deployment_id) == ("interrupt", "flow")
    assert newest.since is not None
    assert newest.next_action.startswith(f'resume_run(run_id="{second}", interrupt_id="int_1"')


async def test_pages_meet_every_question_once_although_one_run_has_more_than_a_page() -> None:
    async with opened() as app:
        await asking(app, 1)
        await asking(app, 12)
        await asking(app, 2)
        whole = told(await list_pending(app, limit=100))
        walked: list[tuple[str, str]] = []
        cursor: str | None = None
        while True:
            page = await list_pending(app, cursor=cursor, limit=4)
            assert len(page.pending) <= 4
            walked += told(page)
            cursor = page.next_cursor
            if cursor is None:
                break
    assert walked == whole
    assert len(whole) == 15


async def test_answers_given_between_two_pages_neither_skip_nor_repeat_a_question() -> None:
    async with opened() as app:
        run_id = await asking(app, 5)
        page = await list_pending(app, limit=2)
        handle = await app.runs.answer(app.runs.handle(run_id).run_id, Answer({}, interrupt_id="int_2"))  # type: ignore[arg-type]
        with anyio.fail_after(5):
            await app.runs.wait(handle, seconds=5)
        rest = await list_pending(app, cursor=page.next_cursor)
    assert [name for _, name in told(page)] == ["int_1", "int_2"]
    assert [name for _, name in told(rest)] == ["int_3", "int_4", "int_5"]


async def test_one_run_is_looked_at_alone_and_must_exist() -> None:
    async with opened() as app:
        first, _ = await asking(app, 2), await asking(app, 1)
        assert told(await list_pending(app, run_id=first)) == [(first, "int_1"), (first, "int_2")]
        with pytest.raises(RunNotFound):
            await list_pending(app, run_id="run_nothing")


async def test_nobody_sees_what_waits_for_somebody_else() -> None:
    async with opened() as app:
        await asking(app, 1, principal="ann")
        assert told(await list_pending(app, caller=LOCAL_PERSON)) == []
        assert len(told(await list_pending(app, caller=Caller(principal="ann")))) == 1


@pytest.mark.parametrize("cursor", ["", "no such cursor!", "59b40e4bf2db.abc"])
async def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    async with opened() as app:
        with pytest.raises(InvalidCursor):
            await list_pending(app, cursor=cursor)


async def test_a_run_that_is_still_at_other_steps_is_among_them_in_its_place() -> None:
    """The oldest of three runs and the newest have stopped; the one between is held in a call, and asks too."""
    which = {"op": "eq", "left": {"path": "context.item"}, "right": {"value": 0}}
    busy = plan(
        {
            **EACH["steps"],
            "each": EACH["steps"]["each"] | {"routes": {"loop": "which", "done": "__end__"}},
            "which": {"type": "condition", "check": which, "routes": {"true": "do", "false": "ask"}},
            "do": node("ops.do"),
        },
    )
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate})) as app:
        first = await asking(app, 2)
        held = (await start(app, busy, {"items": [0, 1, 2, 3]})).run_id
        with anyio.fail_after(5):
            await gate.entered.wait()
            await app.runs.wait(await app.runs.answer(held, Answer({}, interrupt_id="int_1")), seconds=0)
        last = await asking(app, 1)
        expected = [(last, "int_1"), (held, "int_2"), (held, "int_3"), (first, "int_1"), (first, "int_2")]
        assert told(await list_pending(app)) == expected
        walked: list[tuple[str, str]] = []
        page = await list_pending(app, limit=1)
        while True:
            walked += told(page)
            if page.next_cursor is None:
                break
            page = await list_pending(app, limit=1, cursor=page.next_cursor)
        assert walked == expected
