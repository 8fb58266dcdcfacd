"""What `stores` measures of ours: whole runs through the application, over a store on disk.

As a program, `store_work.py resume HOME RUN` answers a run in this fresh process and prints the seconds as JSON.
"""

import gc
import json
import os
import secrets
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from wf_artifacts.clock import SystemClock
from wf_artifacts.sources.models import Capability, contract_digest
from wf_artifacts.stores import open_stores
from wf_core import CallContext
from wf_core.calls.contract import Contract
from wf_core.ids import RUN_ID_RANDOM_BITS
from wf_core.jsonvalue import JsonValue
from wf_mcp.app import App
from wf_mcp.config import Config, Redactor
from wf_mcp.execution.means import Means
from wf_mcp.execution.runs import RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.opening import session_means
from wf_mcp.operations import artifacts, deployments, runs
from wf_mcp.sources.protocol import CallResult, SourceKind, SourceStatus
from wf_mcp.sources.registry import SourceRegistry
from wf_mcp.sources.std import StdSource

MODULE = """
from wf_core import capability

@capability()
async def effect(value: int) -> int:
    return value + 1
"""

Plan = dict[str, Any]

QUESTION: Plan = {"type": "interrupt", "kind": "question", "routes": {"submitted": "__end__"}}
EFFECT = ("bench.effect", "result")
"""A call that may not be repeated, and where its answer is."""
LOOK = ("wf.std.constant", "value")
"""A call that only looks."""


def chain(call: tuple[str, str], length: int, *, asks: bool = False) -> Plan:
    """Make a plan of that many calls, each with the result of the one before; `asks` adds a question at its end."""
    after = "ask" if asks else "__end__"
    steps: Plan = {
        f"s{number}": {
            "type": "node",
            "use": call[0],
            "input": {"value": {"path": "state.value"}},
            "output": {"state.value": call[1]},
            "routes": {"ok": f"s{number + 1}" if number + 1 < length else after},
        }
        for number in range(length)
    }
    if asks:
        steps["ask"] = QUESTION
    return {
        "name": "chain",
        "state_schema": {"type": "object", "properties": {"value": {"type": "integer", "default": 0}}},
        "start": "s0",
        "steps": steps,
        "limits": {"max_steps": 10_000_000},
    }


def circle(entries: int, *, asks: bool = False) -> Plan:
    """Make a plan that goes round until it has made that many trace entries, two a round; `asks` adds a question."""
    add: Plan = {
        "type": "node",
        "use": "wf.std.constant",
        "input": {"value": {"value": 2}},
        "output": {"state.n": "value"},
        "routes": {"ok": "more"},
    }
    more: Plan = {
        "type": "condition",
        "check": {"op": "lt", "left": {"path": "state.n"}, "right": {"value": entries}},
        "routes": {"true": "add", "false": "ask" if asks else "__end__"},
    }
    number: Plan = {"type": "integer", "default": 0, "reducer": "add"}
    return {
        "name": "circle",
        "state_schema": {"type": "object", "properties": {"n": number}},
        "start": "add",
        "steps": {"add": add, "more": more} | ({"ask": QUESTION} if asks else {}),
        "limits": {"max_steps": entries + 1},
    }


class Bench:
    """A source in the process, as the steps of the peers are, so that what is measured is the engine."""

    name = "bench"
    kind: SourceKind = "python"
    enabled = True

    async def capabilities(self) -> Mapping[str, Capability]:
        contract = Contract()
        return {"effect": Capability("bench", "effect", "effect", "", contract, contract_digest(contract))}

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        value = input["value"]
        assert isinstance(value, int), (capability, context)
        return CallResult("ok", {"result": value + 1})

    def status(self) -> SourceStatus:
        return SourceStatus(self.name, self.kind, self.enabled, "ready", 1, ())

    async def close(self) -> None:
        pass


@asynccontextmanager
async def application(home: Path, *, sqlite: bool = False, url: str | None = None) -> AsyncGenerator[App]:
    """Open the application with the source `Bench`; its store: a file tree at `home`, a SQLite file there, or a URL."""
    clock = SystemClock()
    _make(home)
    gc.freeze()  # as the server does
    async with open_stores(url or _store(home, sqlite)) as stores, anyio.create_task_group() as tasks:
        registry = SourceRegistry({"wf.std": StdSource("wf.std", clock), "bench": Bench()})
        means = Means(stores.runs, registry, clock, lambda: 0.0, Config().max_bytes)
        driver = RunDriver(means, tasks, lambda: secrets.randbits(RUN_ID_RANDOM_BITS))
        outside = session_means(stores, registry, Config(), Redactor(), environ={}, clock=clock)
        yield App(home, Config(), clock, Redactor(), stores, registry, driver, SessionDriver(outside, tasks))
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def configured(home: Path, *, sqlite: bool = False) -> AsyncGenerator[App]:
    """Open the application as a user does, with a Python module as the source: it runs beside the server's loop."""
    _make(home)
    (home / "bench.py").write_text(MODULE)
    settings: Plan = {"pythonSources": {"bench": {"module": "bench", "path": "."}}, "store": _store(home, sqlite)}
    (home / "wf.json").write_text(json.dumps(settings))
    async with App.open(home=home, config=home / "wf.json") as app:
        yield app


def _make(home: Path) -> None:
    home.mkdir(exist_ok=True)


def _store(home: Path, sqlite: bool) -> str:
    return f"sqlite:///{home}/bench.db" if sqlite else home.as_uri()


async def deploy(app: App, name: str, plan: Plan) -> None:
    """Save a plan and make it runnable."""
    await artifacts.save_artifact(app, artifact_id=name, plan=plan)
    await deployments.create_deployment(app, deployment_id=name, artifact_id=name)


async def carry_out(app: App, name: str) -> tuple[str, float]:
    """Run a deployment until it stops; give the run and the seconds that it took."""
    began = time.perf_counter()
    summary = await runs.run_deployment(app, deployment_id=name, workflow_input={}, wait_seconds=45)
    while summary.status == "running":
        summary = await runs.inspect_run(app, run_id=summary.run_id or "", wait_seconds=45)
    took = time.perf_counter() - began
    assert summary.status in {"completed", "interrupted"}, summary
    return summary.run_id or "", took


def bytes_below(folder: Path) -> int:
    """Count the bytes of every file below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def appends_and_syncs_a_second(folder: Path, count: int, size: int = 300) -> float:
    """Measure what the disk gives: append a small record and wait until it is there, again and again."""
    descriptor = os.open(folder / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    record = b"x" * size
    began = time.perf_counter()
    for _ in range(count):
        os.write(descriptor, record)
        os.fsync(descriptor)
    took = time.perf_counter() - began
    os.close(descriptor)
    return count / took


def sqlite_commits_a_second(folder: Path, count: int, size: int = 300) -> float:
    """Measure what SQLite gives at most: insert a small row and commit it to the synced log, again and again."""
    connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, record BLOB)")
    record = b"x" * size
    began = time.perf_counter()
    for _ in range(count):
        connection.execute("INSERT INTO records (record) VALUES (?)", (record,))
    took = time.perf_counter() - began
    connection.close()
    return count / took


async def resume(home: Path, run_id: str) -> float:
    """Answer a run; give the seconds from the answer to its end."""
    async with application(home, sqlite=(home / "bench.db").exists()) as app:
        began = time.perf_counter()
        summary = await runs.resume_run(app, run_id=run_id, resume_payload={})
        took = time.perf_counter() - began
    assert summary.status == "completed", summary
    return took


if __name__ == "__main__":
    print(json.dumps(anyio.run(resume, Path(sys.argv[2]), sys.argv[3])))
