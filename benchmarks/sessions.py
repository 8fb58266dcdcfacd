"""How soon a model hears of what was delivered, and whether many deliveries at once all arrive.

    python benchmarks/sessions.py            a table, then one line of JSON
    python benchmarks/sessions.py --check    the same; exit status 1, naming what fell short

The first figure is from the moment at which a delivery is acknowledged to the moment at which the model is asked, in a
program that goes on with a hundred waiting sessions by itself. For the second, processes deliver to a thousand calls.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import anyio
from report import Figure, finish

from wf_artifacts.calls.models import Delivery
from wf_artifacts.clock import SystemClock
from wf_artifacts.stores import Stores, open_stores
from wf_core.calls.policy import ToolCall
from wf_core.ids import SessionId
from wf_core.sessions import AgentSnapshot, ToolDefinition, UserTurn
from wf_mcp.config import Config, Redactor
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.keeping import keep_going
from wf_mcp.execution.sessions.opening import session_means
from wf_mcp.llm import ModelAnswer, ModelRequest
from wf_mcp.sources.registry import SourceRegistry
from wf_mcp.sources.std import StdSource

WAITING = 100
CALLS = 1000
PROCESSES = 8
ME = "local"
CLOCK = SystemClock()

TOOL = ToolDefinition("now", "wf.std.now", "wf.std", "", {}, {}, ("ok",), "digest", read_only=True, idempotent=True)
AGENT = AgentSnapshot(
    slug="benchmark",
    description="",
    system_prompt="",
    model="scripted:none",
    tools=(TOOL,),
    policy={"default": {"tag": "defer", "reason": "external worker"}},
)


class Model:
    """Asks for calls, then answers. It notes when it was asked last, by session."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.asked: dict[str, float] = {}
        self.heard: dict[str, anyio.Event] = {}

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        session_id = request.session.id
        self.asked[session_id] = time.perf_counter()
        if len(request.turns) == 1:
            return ModelAnswer("", (ToolCall("now", {}),) * self.calls)
        self.heard.setdefault(session_id, anyio.Event()).set()
        return ModelAnswer("Done.")


async def _nothing_missing(_: AgentSnapshot) -> tuple[()]:
    return ()


@asynccontextmanager
async def program(folder: Path, model: Model) -> AsyncGenerator[tuple[SessionDriver, Stores]]:
    """Open what advances the sessions of a folder."""
    async with open_stores(f"file://{folder}") as stores, anyio.create_task_group() as tasks:
        registry = SourceRegistry({"wf.std": StdSource("wf.std", CLOCK)})
        means = session_means(stores, registry, Config(), Redactor(), environ={}, clock=CLOCK)

        def open_model(_: AgentSnapshot) -> Model:
            return model

        driver = SessionDriver(replace(means, open_model=open_model, missing=_nothing_missing), tasks)
        tasks.start_soon(keep_going, driver)
        yield driver, stores
        tasks.cancel_scope.cancel()


async def waiting(driver: SessionDriver) -> dict[str, SessionId]:
    """Let sessions come to wait: the session of each token."""
    owners: dict[str, SessionId] = {}
    for _ in range(WAITING):
        session_id = (await driver.create(AGENT, "Go.", principal=ME, auto=True)).session_id
        await driver.wait(await driver.resume(session_id))
        owners |= {call.token: session_id for call in (await driver.view(session_id)).pending}
    return owners


def there() -> Delivery:
    return Delivery(kind="result", result="there", channel="benchmark", principal=ME, delivered_at=CLOCK.now())


async def delays(folder: Path) -> list[float]:
    """Give for each session the milliseconds from the acknowledged delivery to the question, the shortest first."""
    model, measured = Model(1), list[float]()
    async with program(folder, model) as (driver, _):
        for token, session_id in (await waiting(driver)).items():
            heard = model.heard.setdefault(session_id, anyio.Event())
            await driver.deliver(token, there(), principal=ME)
            acknowledged = time.perf_counter()
            await heard.wait()
            measured.append(1000 * (model.asked[session_id] - acknowledged))
    return sorted(measured)


async def answered(folder: Path) -> int:
    """Tell how many calls have their result, and their session its answer, after processes delivered to all at once."""
    async with program(folder, Model(CALLS // WAITING)) as (driver, stores):
        owners = await waiting(driver)
        tokens = list(owners)
        command = [sys.executable, __file__, "--deliver", str(folder)]
        shares = ["\n".join(tokens[number::PROCESSES]) for number in range(PROCESSES)]
        async with anyio.create_task_group() as tasks:
            for share in shares:
                tasks.start_soon(_run, command, share)
        count = 0
        for session_id in set(owners.values()):
            with anyio.move_on_after(30):
                while (await stores.sessions.load_record(session_id)).status != "answered":  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                turn = (await driver.view(session_id)).session.turns[2]
                count += len(turn.results) if isinstance(turn, UserTurn) else 0
    return count


async def _run(command: list[str], given: str) -> None:
    await anyio.run_process(command, input=given.encode(), stderr=None)


async def deliver(folder: Path, tokens: list[str]) -> None:
    """Deliver as another process does."""
    async with open_stores(f"file://{folder}") as stores:
        for token in tokens:
            await stores.continuations.deliver(token, there(), principal=None, now=CLOCK.now())


def main() -> int:
    """Measure, print, and give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--deliver", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.deliver:
        anyio.run(deliver, options.deliver, sys.stdin.read().split())
        return 0
    with tempfile.TemporaryDirectory() as folder:
        measured = anyio.run(delays, Path(folder, "delays"))
        count = anyio.run(answered, Path(folder, "answered"))
    last = measured[min(len(measured) - 1, int(0.99 * len(measured)))]
    figures = [
        Figure("ms from a delivery to the question, p99, 100 sessions waiting", last, 50, at_least=False),
        Figure("results placed of 1,000, delivered by 8 processes at once", count, CALLS, at_least=True),
    ]
    return finish("sessions", figures, {"p50_ms": round(median(measured), 2)}, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
