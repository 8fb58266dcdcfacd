"""What waits for the outside."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.desk import desk, tokens, waiting
from tests.wf_mcp.scripted import Gate, ScriptedSource, ask, environment, node, opened, plan, start
from wf_artifacts.errors import InvalidCursor, RunNotFound, SessionNotFound
from wf_core.runtime import Answer
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations.caller import LOCAL_PERSON, Caller
from wf_mcp.operations.calls import complete_call
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


def told(pending: PendingList) -> list[tuple[str | None, str]]:
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
        walked: list[tuple[str | None, str]] = []
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
        walked: list[tuple[str | None, str]] = []
        page = await list_pending(app, limit=1)
        while True:
            walked += told(page)
            if page.next_cursor is None:
                break
            page = await list_pending(app, limit=1, cursor=page.next_cursor)
        assert walked == expected


async def walked(app: App, limit: int, **filters: Any) -> list[str]:
    """Go through all pages, and name what was met: questions by run and id, calls by token."""
    met: list[str] = []
    cursor: str | None = None
    while True:
        page = await list_pending(app, cursor=cursor, limit=limit, **filters)
        assert len(page.pending) <= limit
        met += [
            f"{item.run_id} {item.interrupt.id}" if item.interrupt else item.call.token if item.call else ""
            for item in page.pending
        ]
        cursor = page.next_cursor
        if cursor is None:
            return met


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 7, 100])
async def test_pages_of_runs_and_sessions_neither_skip_nor_repeat_anything(tmp_path: Path, limit: int) -> None:
    """The runs end in the middle of a page, at its end, or beyond it."""
    async with desk(tmp_path).open() as app:
        older, newer = await asking(app, 1), await asking(app, 2)
        first, second = await waiting(app), await waiting(app)
        whole = await walked(app, 100)
        assert whole[:3] == [f"{newer} int_1", f"{newer} int_2", f"{older} int_1"]
        assert set(whole[3:]) == {*tokens(first).values(), *tokens(second).values()}
        assert set(whole[3:5]) == set(tokens(second).values())
        assert await walked(app, limit) == whole
        assert await walked(app, limit, only="call") == whole[3:]
        assert await walked(app, limit, only="interrupt") == whole[:3]
        assert await walked(app, limit, session_id=first.session_id) == list(tokens(first).values())


async def test_a_call_answered_between_two_pages_is_gone_and_nothing_else_is(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        run_id = await asking(app, 1)
        told = await waiting(app)
        page = await list_pending(app, limit=2)
        assert [item.run_id for item in page.pending] == [run_id, None]
        seen = page.pending[1].call
        assert seen is not None
        await complete_call(app, token=seen.token, result="there")
        rest = await list_pending(app, limit=2, cursor=page.next_cursor)
    [left] = set(tokens(told).values()) - {seen.token}
    assert ([item.call.token for item in rest.pending if item.call], rest.next_cursor) == ([left], None)


async def test_a_cursor_leads_on_only_in_the_list_that_gave_it_out(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        await asking(app, 1)
        told, other = await waiting(app), await waiting(app)
        of_all = (await list_pending(app, limit=1)).next_cursor
        of_sessions = (await list_pending(app, limit=2)).next_cursor
        of_one = (await list_pending(app, limit=1, session_id=told.session_id)).next_cursor
        assert of_all is not None
        assert of_sessions is not None
        assert of_one is not None
        for cursor in (of_all, of_sessions, f"{of_one}!", f"{of_one.partition('.')[0]}.x"):
            with pytest.raises(InvalidCursor):
                await list_pending(app, session_id=told.session_id, cursor=cursor)
        for cursor in (of_one, f"{of_sessions}!", of_sessions.partition(".")[0] + ".sessions.x", "sessions."):
            with pytest.raises(InvalidCursor):
                await list_pending(app, cursor=cursor)
        with pytest.raises(InvalidCursor):
            await list_pending(app, session_id=other.session_id, cursor=of_one)
        with pytest.raises(InvalidCursor):
            await list_pending(app, cursor=of_sessions, caller=Caller(principal="ann"))


async def test_one_session_is_looked_at_alone_and_must_exist(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        run_id, told = await asking(app, 1), await waiting(app)
        listed = await list_pending(app, session_id=told.session_id)
        assert [item.call for item in listed.pending] == told.pending_calls
        with pytest.raises(SessionNotFound):
            await list_pending(app, session_id="sess_nothing")
        with pytest.raises(SessionNotFound):
            await list_pending(app, session_id=told.session_id, caller=Caller(principal="ann"))
        with pytest.raises(InvalidArgument):
            await list_pending(app, session_id=told.session_id, run_id=run_id)
        assert (await list_pending(app, caller=Caller(principal="ann"))).pending == []
