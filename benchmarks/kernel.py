"""How many steps a second the kernel carries out by itself, and whether a step costs the same in a long run.

    python benchmarks/kernel.py            a table, then one line of JSON
    python benchmarks/kernel.py --check    the same; fails where a bound is not kept

Each step calls a capability, whose answer is given at once, and writes the result to state. There is no source, no
store and no event loop.
"""

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from typing import Any

from wf_core.calls.contract import Contract
from wf_core.runtime import Program, Ready, compile_program, complete, next_work, start

CHAINS = (100, 1_000, 10_000)
"""Steps of a run."""
REPEATS = 9
LEAST_STEPS_PER_SECOND = 20_000
MOST_GROWTH = 1.5
"""Of the cost of a step, from the shortest chain to the longest. A cost that grew with history would be far above."""

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COUNTER = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}


def chain(length: int) -> dict[str, Any]:
    """Write a plan in which each step hands a number from state to a capability and its answer back."""
    steps = {
        f"s{number}": {
            "type": "node",
            "use": "bench.next",
            "input": {"value": {"path": "state.value"}},
            "output": {"state.value": "value"},
            "routes": {"ok": f"s{number + 1}" if number + 1 < length else "__end__"},
        }
        for number in range(length)
    }
    return {
        "name": "chain",
        "state_schema": {"type": "object", "properties": {"value": {"type": "integer", "default": 0}}},
        "output_schema": COUNTER,
        "start": "s0",
        "steps": steps,
        "limits": {"max_steps": length},
    }


def carry_out(program: Program, length: int) -> float:
    """Drive one run from start to end; give the seconds it took."""
    began = time.perf_counter()
    run = start(program, run_id="run_bench", input={})
    while isinstance(work := next_work(program, run, now=NOW), Ready):
        for call in work.calls:
            value = call.input["value"]
            assert isinstance(value, int)
            complete(program, run, call.call_id, outcome="ok", output={"value": value + 1}, now=NOW)
        run.take_trace()
    took = time.perf_counter() - began
    assert run.output == {"value": length}, run.error
    return took


def microseconds_per_step() -> dict[int, float]:
    """Measure the fastest run of each length, in turn, so that a machine busy for a while slows down them all."""
    contracts = {"bench.next": Contract(input_schema=COUNTER, output_schema=COUNTER)}
    programs = {length: compile_program(chain(length), contracts=contracts) for length in CHAINS}
    seconds = {length: list[float]() for length in CHAINS}
    for _ in range(REPEATS):
        for length, program in programs.items():
            seconds[length].append(carry_out(program, length))
    return {length: min(taken) / length * 1e6 for length, taken in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the kernel.")
    parser.add_argument("--check", action="store_true", help="fail where a bound is not kept")
    options = parser.parse_args()
    cost = microseconds_per_step()
    print(f"{'steps in the run':>18}{'µs a step':>14}{'steps a second':>18}")
    for length, each in cost.items():
        print(f"{length:>18,}{each:>14.1f}{1e6 / each:>18,.0f}")
    slowest, growth = max(cost.values()), cost[CHAINS[-1]] / cost[CHAINS[0]]
    kept = 1e6 / slowest >= LEAST_STEPS_PER_SECOND and growth <= MOST_GROWTH
    result = {
        "benchmark": "kernel",
        "microseconds_per_step": {str(length): round(each, 2) for length, each in cost.items()},
        "steps_per_second": round(1e6 / slowest),
        "growth": round(growth, 3),
        "kept": kept,
    }
    print(json.dumps(result))
    return 1 if options.check and not kept else 0


if __name__ == "__main__":
    sys.exit(main())
