"""How what is read costs when much is kept: the end of a long trace, and one page of many runs or sessions."""

import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from store_work import LOOK, application, carry_out, chain, circle, deploy

from wf_artifacts.sessions.models import SessionRecord
from wf_core.ids import RUN_ID_RANDOM_BITS, RunId, run_id, session_id
from wf_mcp.app import App
from wf_mcp.operations import runs, sessions, traces
from wf_mcp.operations.caller import LOCAL_MODEL

REPEATS = 31
AT_ONCE = 50
"""Runs or sessions that are created at the same time."""


async def trace_ratio(folder: Path, sqlite: bool, full: bool) -> float:
    """Compare reading the last 10 entries of a long trace with reading those of one of 100."""
    entries = 1_000_000 if full else 20_000
    async with application(folder, sqlite=sqlite) as app:
        await deploy(app, "short", circle(100))
        await deploy(app, "long", circle(entries))
        short, _ = await carry_out(app, "short")
        long, _ = await carry_out(app, "long")

        async def end_of(name: str) -> None:
            page = await traces.read_run_trace(app, run_id=name, start=-10, limit=10)
            assert len(page.entries) == 10

        return await _milliseconds(lambda: end_of(long)) / await _milliseconds(lambda: end_of(short))


async def list_ratio(folder: Path, sqlite: bool, full: bool, url: str | None = None) -> float:
    """Compare listing 20 of many runs with listing 20 of 100."""
    many = 100_000 if full else 2_000
    async with application(folder, sqlite=sqlite, url=url) as app:
        await deploy(app, "look", chain(LOOK, 1))
        await _create_runs(app, 100)
        few = await _milliseconds(lambda: _list(app))
        await _create_runs(app, many - 100)
        return await _milliseconds(lambda: _list(app)) / few


async def list_ratio_in_postgres(folder: Path, full: bool) -> float | None:
    """Compare as `list_ratio`, in a PostgreSQL server that is started for it. None where none is installed."""
    sys.path.append(str(Path(__file__).parent.parent))
    from tests.wf_artifacts import postgres  # noqa: PLC0415  # found from here on

    if postgres.find_programs() is None:
        return None
    with postgres.running() as server:
        return await list_ratio(folder, sqlite=False, full=full, url=server.url)


async def session_list_ratio(folder: Path, full: bool) -> float:
    """Compare listing 20 of many sessions of a file tree with listing 20 of 100."""
    async with application(folder / "few") as few, application(folder / "many") as many:
        await _create_sessions(few, 100)
        await _create_sessions(many, 10_000 if full else 2_000)
        return await _ratio(lambda: _list_sessions(many), lambda: _list_sessions(few))


async def _list_sessions(app: App) -> None:
    page = await sessions.list_sessions(app, limit=20)
    assert len(page.sessions) == 20


async def _create_sessions(app: App, count: int) -> None:
    """Fill the store with sessions as far as a list looks at them."""
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def create() -> None:
        async with limit:
            now = app.clock.now()
            record = SessionRecord(
                session_id=session_id(now, secrets.randbits(RUN_ID_RANDOM_BITS)),
                principal=LOCAL_MODEL.principal,
                agent="bench",
                status="answered",
                created_at=now,
                updated_at=now,
            )
            await (await app.stores.sessions.create(record, b"{}")).release()

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(create)


async def _list(app: App) -> None:
    page = await runs.list_runs(app, limit=20)
    assert len(page.runs) == 20


async def _create_runs(app: App, count: int) -> None:
    """Fill the store with copies of one run, which is quicker than carrying each of them out."""
    name = RunId((await carry_out(app, "look"))[0])
    store = app.stores.runs
    record, environment = await store.load(name), await store.load_environment(name)
    checkpoint = await store.load_checkpoint(name)
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def create() -> None:
        async with limit:
            copy = run_id(app.clock.now(), secrets.randbits(RUN_ID_RANDOM_BITS))
            fields: dict[str, Any] = {"run_id": copy, "checkpoint": 1, "trace_count": 0}
            first = replace(checkpoint, run_id=copy, sequence=1)
            created = await store.create(record.model_copy(update=fields), environment, first)
            assert created.claim is not None
            await created.claim.release()

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(create)


async def _milliseconds(act: Callable[[], Awaitable[None]]) -> float:
    """Give the median time of an act, after it was done once."""
    await act()
    return median([await _took(act) for _ in range(REPEATS)]) * 1e3


async def _ratio(act: Callable[[], Awaitable[None]], other: Callable[[], Awaitable[None]]) -> float:
    """Compare the median times of two acts. They are done in turn, so what else the machine does is in both."""
    await act()
    await other()
    times = [(await _took(act), await _took(other)) for _ in range(REPEATS)]
    return median(one for one, _ in times) / median(one for _, one in times)


async def _took(act: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began
