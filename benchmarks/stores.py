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
from growth import list_ratio, list_ratio_in_postgres, trace_ratio
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


class Peers:
    """The steps a second of the peers, asked for before and after ours, for a machine is not always as fast."""

    def __init__(self) -> None:
        self._python = peer_python()
        self._langgraph: list[float] = []
        self._dbos: list[float] = []
        self.ask()

    def ask(self) -> None:
        """Let each carry its chain out once more."""
        self._langgraph.append(STEPS / ask(self._python, "peer_langgraph.py", "durable", str(STEPS)))
        self._dbos.append(STEPS / ask(self._python, "peer_dbos.py", str(STEPS)))

    @property
    def langgraph(self) -> float:
        return median(self._langgraph)

    @property
    def dbos(self) -> float:
        return median(self._dbos)


async def speeds(folder: Path, sqlite: bool, repeats: int) -> tuple[dict[str, float], float]:
    """Give calls a second of a chain of effects and of a chain of looks, and what disk and SQLite give themselves.

    Last, how the effects stand to the disk: the median of those that were measured one after the other.
    """
    rates: dict[str, list[float]] = {"disk": [], "SQLite's own commits": [], "effects": [], "looks": []}
    async with application(folder, sqlite=sqlite) as app:
        for name, call in (("effect", EFFECT), ("look", LOOK)):
            await deploy(app, name, chain(call, STEPS))
            await carry_out(app, name)
        for _ in range(repeats):
            rates["looks"].append(STEPS / (await carry_out(app, "look"))[1])
            rates["SQLite's own commits"].append(sqlite_commits_a_second(folder, STEPS))
            rates["disk"].append(appends_and_syncs_a_second(folder, STEPS))
            rates["effects"].append(STEPS / (await carry_out(app, "effect"))[1])
    rates["effects of a Python module"] = [await of_a_module(folder.with_name(f"{folder.name}-module"), sqlite)]
    to_disk = median(ours / disk for ours, disk in zip(rates["effects"], rates["disk"], strict=True))
    return {name: median(each) for name, each in rates.items()}, to_disk


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
    peers, repeats = Peers(), 9 if full else 5
    measured: dict[str, Any] = {}
    figures: list[Figure] = []
    ours: dict[str, dict[str, float]] = {}
    for name in STORES:

        def folder(what: str, name: str = name) -> Path:
            return base / f"{name} {what}".replace(" ", "-")

        sqlite = name == "SQLite"

        rates, to_disk = await speeds(folder("speed"), sqlite, repeats)
        peers.ask()
        ours[name] = rates
        measured[name] = {what: round(rate) for what, rate in rates.items()}
        many, few = await bytes_a_step(folder("many"), sqlite, 10_000), await bytes_a_step(folder("few"), sqlite, 100)
        late = await resumed_after(folder("late"), sqlite, 10_000, repeats)
        early = await resumed_after(folder("early"), sqlite, 10, repeats)
        measured[name] |= {"bytes a step": round(many), "resume ms": round(late * 1e3, 1)}
        figures += [
            Figure(f"{name}: effects to the disk's appends", to_disk, 0.7, at_least=True),
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
    measured |= {"langgraph steps a second": round(peers.langgraph), "dbos steps a second": round(peers.dbos)}
    for name, rates in ours.items():
        figures += [
            Figure(f"{name}: effects to DBOS's steps", rates["effects"] / peers.dbos, 5, at_least=True),
            Figure(f"{name}: looks to LangGraph's steps", rates["looks"] / peers.langgraph, 10, at_least=True),
        ]
    in_postgres = await list_ratio_in_postgres(base / "postgres", full)
    if in_postgres is None:
        print("PostgreSQL is not installed: its lists are left out", file=sys.stderr)
    else:
        figures.append(Figure("PostgreSQL: 20 of many runs to 20 of 100", in_postgres, 3, at_least=False))
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
