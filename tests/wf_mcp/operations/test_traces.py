"""What a run did, as much at a time as can be shown at once."""

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource, node, opened, plan, start
from wf_core import jsonvalue
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations.traces import PAGE_BYTES, read_run_trace

pytestmark = pytest.mark.anyio


async def ran(app: App, steps: int, text: str = "") -> str:
    """Carry out a run of so many steps, each with an input that holds `text`."""
    given = {"text": {"value": text}}
    chain = {f"s{n}": node("ops.echo", f"s{n + 1}" if n < steps - 1 else "__end__", input=given) for n in range(steps)}
    handle = await start(app, plan(chain))
    with anyio.fail_after(5):
        await app.runs.wait(handle, seconds=5)
    return handle.run_id


@pytest.mark.parametrize(
    ("start", "limit", "first", "indexes", "truncated"),
    [
        (0, 20, 0, [0, 1, 2, 3, 4], False),
        (1, 2, 1, [1, 2], True),
        (-2, 20, 3, [3, 4], False),
        (-9, 2, 0, [0, 1], True),
        (5, 20, 5, [], False),
        (99, 1, 99, [], False),
    ],
)
async def test_a_trace_is_read_in_slices(
    start: int, limit: int, first: int, indexes: list[int], truncated: bool
) -> None:
    async with opened(ScriptedSource()) as app:
        page = await read_run_trace(app, run_id=await ran(app, 5), start=start, limit=limit)
    assert (page.start, page.limit, page.trace_count, page.truncated) == (first, limit, 5, truncated)
    assert [entry.index for entry in page.entries] == indexes


async def test_a_page_of_long_entries_ends_early_and_says_where_to_go_on() -> None:
    """Each entry holds two texts of almost 4 KiB, which are not shortened."""
    async with opened(ScriptedSource()) as app:
        run_id = await ran(app, 20, "x" * 4000)
        pages = [await read_run_trace(app, run_id=run_id, limit=100)]
        while (following := pages[-1].next_start) is not None:
            pages.append(await read_run_trace(app, run_id=run_id, start=following, limit=100))
    assert [entry.index for page in pages for entry in page.entries] == list(range(20))
    assert [page.truncated for page in pages] == [True] * (len(pages) - 1) + [False]
    assert all(len(jsonvalue.dumps(page.model_dump(mode="json"))) < PAGE_BYTES + 500 for page in pages)


async def test_a_page_of_short_entries_is_as_long_as_it_is_told() -> None:
    """What is told of an entry is longer than what is stored of it."""
    async with opened(ScriptedSource()) as app:
        page = await read_run_trace(app, run_id=await ran(app, 100), limit=100)
    assert len(jsonvalue.dumps(page.model_dump(mode="json"))) < PAGE_BYTES + 500


async def test_an_entry_that_is_too_long_for_a_page_has_one_of_its_own() -> None:
    """Values are shortened, names of steps are not."""
    long = "s" * PAGE_BYTES
    document = plan({long: node("ops.echo", "b"), "b": node("ops.echo")})
    async with opened(ScriptedSource()) as app:
        handle = await start(app, document)
        with anyio.fail_after(5):
            await app.runs.wait(handle, seconds=5)
        page = await read_run_trace(app, run_id=handle.run_id)
    assert ([entry.index for entry in page.entries], page.next_start) == ([0], 1)


async def test_a_limit_out_of_bounds_is_refused() -> None:
    async with opened(ScriptedSource()) as app:
        run_id = await ran(app, 1)
        for limit in (0, 101):
            with pytest.raises(InvalidArgument):
                await read_run_trace(app, run_id=run_id, limit=limit)
