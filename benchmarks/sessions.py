"""How soon a model hears of what was delivered, whether all arrives, and what a long session and many sessions cost.

    python benchmarks/sessions.py            a table, then one line of JSON
    python benchmarks/sessions.py --check    the same; exit status 1, naming what fell short
    python benchmarks/sessions.py --full     more rounds, and 10,000 sessions to list instead of 2,000

The first figure is from the moment at which `complete_call` has returned to the client to the moment at which the model
is asked, in a server on HTTP that goes on with a hundred waiting sessions by itself; the model is behind HTTP, too. For
the second, eight workers outside deliver to a thousand calls over MCP. The next are of a session of a thousand turns,
the last of a list of sessions.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from growth import session_list_ratio
from mcp import Client
from report import Figure, finish
from session_work import ERA, LoopbackModel, call, server, wait_for

from wf_artifacts.stores import open_stores
from wf_mcp.agents import Agent, with_durable_workflows
from wf_mcp.execution.sessions.runner import AgentRunner

WAITING = 100
CALLS = 1000
WORKERS = 8
TURNS = 1000
HERE = Path(__file__).parent


async def delays(client: Client, model: LoopbackModel, rounds: int) -> list[float]:
    """Give for each session the milliseconds from the acknowledged delivery to the question, the shortest first."""
    measured: list[float] = []
    for round_number in range(rounds):
        prompts = [f"1 call, number {round_number}.{number}" for number in range(WAITING)]
        waiting = {prompt: await wait_for(client, prompt) for prompt in prompts}
        for prompt, (token,) in waiting.items():
            await call(client, "complete_call", token=token, result="there")
            acknowledged = time.monotonic()
            with anyio.fail_after(30):
                measured.append(1000 * (await model.answered(prompt) - acknowledged))
    return sorted(measured)


async def arrived(client: Client, model: LoopbackModel, url: str) -> tuple[int, float]:
    """Give how many results of workers came to their sessions' models, and how many were delivered in a second."""
    number = CALLS // WAITING
    prompts = [f"{number} calls, session {session}" for session in range(WAITING)]
    tokens = [token for prompt in prompts for token in await wait_for(client, prompt)]
    began = time.monotonic()
    async with anyio.create_task_group() as tasks:
        for worker in range(WORKERS):
            command = [sys.executable, str(HERE / "session_work.py"), url]
            tasks.start_soon(_run, command, "\n".join(tokens[worker::WORKERS]))
    took = time.monotonic() - began
    with anyio.move_on_after(60):
        for prompt in prompts:
            await model.answered(prompt)
    return number * sum(prompt in model.asked for prompt in prompts), len(tokens) / took


async def _run(command: list[str], given: str) -> None:
    await anyio.run_process(command, input=given.encode(), stderr=None)


async def serve(folder: Path, rounds: int) -> tuple[list[float], int, float]:
    """Measure what a server does."""
    model = LoopbackModel()
    async with model.serving(), server(folder, model) as url, Client(url, mode=ERA, read_timeout_seconds=60) as client:
        [token] = await wait_for(client, "1 call, the first")  # once for what is loaded when it is needed
        await call(client, "complete_call", token=token, result="there")
        await model.answered("1 call, the first")
        return await delays(client, model, rounds), *await arrived(client, model, url)


async def growth(folder: Path) -> tuple[float, float]:
    """Compare the last turns of a long session with early ones: by the time of a turn, and by its bytes.

    The time is that of the processor: nothing else that the machine does is in it.
    """
    answers: list[Any] = [{"toolCalls": [{"name": "constant", "arguments": {"value": "x" * 100}}]}] * TURNS
    (folder / "script.json").write_text(json.dumps({"answers": [*answers, {"text": "Done."}]}))
    agent = Agent(slug="long", model="scripted:script.json", tools=("wf.std.constant",), folder=folder, max_turns=2000)
    spent: list[float] = []
    async with open_stores(f"file://{folder / 'home'}") as stores:
        agent = with_durable_workflows(agent, stores.sessions, stores.continuations)
        async with AgentRunner.open(agent) as runner:
            with runner.sessions.changes.heard_by(lambda _: spent.append(time.process_time())):
                ended = await runner.run("Go.")
        assert ended.record.answer == "Done.", ended.record
        events = (await stores.sessions.load(ended.record.session_id)).events
    times = [after - before for before, after in pairwise(spent)]
    return _ratio(times, median), _ratio([len(event) for event in events], sum)


def _ratio(each: Sequence[float], measure: Any) -> float:
    """Compare what belongs to the last hundred turns of the thousand with what belongs to those from the tenth on."""
    hundred, ten = len(each) // 10, len(each) // 100
    return measure(each[-hundred:]) / measure(each[ten : ten + hundred])


def main() -> int:
    """Measure, print, and give the exit status."""
    parser = argparse.ArgumentParser(description="Measure agent sessions.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound is not kept")
    parser.add_argument("--full", action="store_true", help="more rounds and sessions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (place := Path(folder, "long")).mkdir()
        slower, larger = anyio.run(growth, place)
        (lists := Path(folder, "lists")).mkdir()
        listed = anyio.run(session_list_ratio, lists, options.full)
        measured, count, rate = anyio.run(serve, Path(folder), 10 if options.full else 1)
    last = measured[min(len(measured) - 1, int(0.99 * len(measured)))]
    print(f"from complete_call to the model: median {median(measured):.1f} ms, p99 {last:.1f} ms")
    print(f"{WORKERS} workers deliver {rate:.0f} results a second over MCP")
    figures = [
        Figure("ms from complete_call to the model, p99, 100 sessions waiting", last, 50, at_least=False),
        Figure("results that came to a model, of 1,000 from 8 processes at once", count, CALLS, at_least=True),
        Figure("processor time of a turn, the thousandth to the tenth", slower, 1.5, at_least=False),
        Figure("bytes of a turn, the thousandth to the tenth", larger, 1.5, at_least=False),
        Figure("20 of many sessions to 20 of 100", listed, 3, at_least=False),
    ]
    told = {"p50_ms": round(median(measured), 2), "delivered_per_second": round(rate)}
    return finish("sessions", figures, told, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
