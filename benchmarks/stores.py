"""Durable runs beside LangGraph with its SqliteSaver and DBOS, both on SQLite, in one run; and how ours grow.

    python benchmarks/stores.py            tables, then one line of JSON
    python benchmarks/stores.py --check    the same; exit status 1, naming what fell short
    python benchmarks/stores.py --full     lists of 100,000 runs, traces of 1,000,000 entries; takes many minutes

It works in the current folder, whose disk is what is measured.
"""

import argparse
import resource
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from environment import ask, peer_python
from growth import list_ratio, trace_ratio
from report import Figure, finish
from store_work import (
    EFFECT,
    LOOK,
    appends_and_syncs_a_second,
    application,
    bytes_below,
    carry_out,
    chain,
    circle,
    configured,
    deploy,
    sqlite_commits_a_second,
)

STORES = ("file tree", "SQLite")
STEPS = 1_000


async def speeds(folder: Path, sqlite: bool, repeats: int) -> dict[str, float]:
    """Give calls a second of a chain of effects and of a chain of looks, and what disk and SQLite give themselves."""
    rates: dict[str, list[float]] = {"disk": [], "SQLite's own commits": [], "effects": [], "looks": []}
    async with application(folder, sqlite=sqlite) as app:
        for name, call in (("effect", EFFECT), ("look", LOOK)):
            await deploy(app, name, chain(call, STEPS))
            await carry_out(app, name)
        for _ in range(repeats):
            rates["disk"].append(appends_and_syncs_a_second(folder, STEPS))
            rates["SQLite's own commits"].append(sqlite_commits_a_second(folder, STEPS))
            rates["effects"].append(STEPS / (await carry_out(app, "effect"))[1])
            rates["looks"].append(STEPS / (await carry_out(app, "look"))[1])
    rates["effects of a Python module"] = [await of_a_module(folder.with_name(f"{folder.name}-module"), sqlite)]
    return {name: median(each) for name, each in rates.items()}


async def of_a_module(folder: Path, sqlite: bool) -> float:
    """Give calls a second of a chain of effects in a Python module: each crosses over to its thread and back."""
    async with configured(folder, sqlite=sqlite) as app:
        await deploy(app, "effect", chain(EFFECT, STEPS))
        await carry_out(app, "effect")
        return STEPS / (await carry_out(app, "effect"))[1]


async def bytes_a_step(folder: Path, sqlite: bool, steps: int) -> float:
    """Give how many bytes runs of that many calls leave on disk for each of them, once the store is closed."""
    kept: list[int] = []
    enough = max(1, 1_000 // steps)
    async with application(folder, sqlite=sqlite) as app:
        await deploy(app, "effect", chain(EFFECT, steps))
        await carry_out(app, "effect")
    for count in (0, enough):
        async with application(folder, sqlite=sqlite) as app:
            for _ in range(count):
                await carry_out(app, "effect")
        kept.append(bytes_below(folder))
    return (kept[1] - kept[0]) / (steps * enough)


async def resumed_after(folder: Path, sqlite: bool, entries: int, repeats: int) -> float:
    """Give the seconds that a fresh process takes to answer a run with that many trace entries behind it."""
    async with application(folder, sqlite=sqlite) as app:
        await deploy(app, "asks", circle(entries, asks=True))
        run_ids = [(await carry_out(app, "asks"))[0] for _ in range(repeats)]
    measure = partial(ask, Path(sys.executable), "store_work.py", "resume", str(folder))
    return median([await anyio.to_thread.run_sync(measure, run_id) for run_id in run_ids])


async def memory_of_paused(folder: Path, count: int) -> float:
    """Give by how many MB the process grows while it makes that many runs that stop at a question."""
    async with application(folder) as app:
        await deploy(app, "asks", chain(LOOK, 1, asks=True))
        for _ in range(100):
            await carry_out(app, "asks")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(count):
            await carry_out(app, "asks")
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


async def measure(base: Path, *, full: bool) -> tuple[list[Figure], dict[str, Any]]:
    python, repeats = peer_python(), 5 if full else 3
    langgraph = STEPS / ask(python, "peer_langgraph.py", "durable", str(STEPS))
    dbos = STEPS / ask(python, "peer_dbos.py", str(STEPS))
    measured: dict[str, Any] = {"langgraph steps a second": round(langgraph), "dbos steps a second": round(dbos)}
    figures: list[Figure] = []
    for name in STORES:

        def folder(what: str, name: str = name) -> Path:
            return base / f"{name} {what}".replace(" ", "-")

        sqlite = name == "SQLite"

        rates = await speeds(folder("speed"), sqlite, repeats)
        measured[name] = {what: round(rate) for what, rate in rates.items()}
        many, few = await bytes_a_step(folder("many"), sqlite, 10_000), await bytes_a_step(folder("few"), sqlite, 100)
        late = await resumed_after(folder("late"), sqlite, 10_000, repeats)
        early = await resumed_after(folder("early"), sqlite, 10, repeats)
        measured[name] |= {"bytes a step": round(many), "resume ms": round(late * 1e3, 1)}
        figures += [
            Figure(f"{name}: effects to the disk's appends", rates["effects"] / rates["disk"], 0.7, at_least=True),
            Figure(f"{name}: effects to DBOS's steps", rates["effects"] / dbos, 5, at_least=True),
            Figure(f"{name}: looks to LangGraph's steps", rates["looks"] / langgraph, 10, at_least=True),
            Figure(f"{name}: bytes a step, 10,000 to 100", many / few, 1.2, at_least=False),
            Figure(f"{name}: resuming after 10,000 entries to 10", late / early, 1.5, at_least=False),
            Figure(
                f"{name}: end of a long trace to a short",
                await trace_ratio(folder("trace"), sqlite, full),
                3,
                at_least=False,
            ),
            Figure(
                f"{name}: 20 of many runs to 20 of 100",
                await list_ratio(folder("list"), sqlite, full),
                3,
                at_least=False,
            ),
        ]
    figures.append(
        Figure("MB that 1,000 paused runs add", await memory_of_paused(base / "paused", 1_000), 5, at_least=False)
    )
    return figures, measured


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure durable runs.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound is not kept")
    parser.add_argument("--full", action="store_true", help="the sizes of the promises, instead of smaller ones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".", prefix="bench-") as folder:
        figures, measured = anyio.run(partial(measure, Path(folder).resolve(), full=options.full))
    for name, each in measured.items():
        print(f"{name}: {each}")
    return finish("stores", figures, measured, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
