"""What the benchmarks of the kernel run: plans of trivial steps, and a driver that answers each call at once.

There is no source, no store and no event loop.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from wf_core.calls.contract import Contract
from wf_core.runtime import Program, Ready, compile_program, complete, next_work, start

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NUMBER = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}
CONTRACTS = {"bench.next": Contract(input_schema=NUMBER, output_schema=NUMBER)}

Plan = dict[str, Any]


def chain(length: int) -> Program:
    """Make a chain of steps, each of which hands a number from state to a capability and writes its answer back."""
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
    state: Plan = {"value": {"type": "integer", "default": 0}, "ballast": {"type": "array", "default": []}}
    return _program(length, state, NUMBER, "s0", steps, {"state.ballast": {"path": "input.ballast", "default": []}})


def fan_out(mode: str, items: int) -> Program:
    """Make a loop that hands each item of the input to a capability and appends its answer to a list."""
    steps: Plan = {
        "each": {
            "type": "foreach",
            "over": "input.items",
            "as": "item",
            "mode": mode,
            "max_active": 100,
            "routes": {"loop": "body", "done": "__end__"},
        },
        "body": {
            "type": "node",
            "use": "bench.next",
            "input": {"value": {"path": "context.item"}},
            "output": {"state.results": "value"},
            "routes": {"ok": "__end__"},
        },
    }
    results: Plan = {"type": "array", "items": {"type": "integer"}, "default": [], "reducer": "append"}
    output = {"type": "object", "properties": {"results": {"type": "array"}}}
    return _program(items + 1, {"results": results}, output, "each", steps, {})


def seconds_of_chain(program: Program, length: int, ballast: list[str] | None = None) -> float:
    """Drive a chain from start to end, with `ballast` in its state; give the seconds its steps took."""
    return _drive(program, {"ballast": ballast or []}, {"value": length})


def seconds_of_fan_out(program: Program, items: int) -> float:
    """Drive a loop over that many items from start to end; give the seconds it took."""
    return _drive(program, {"items": list(range(items))}, {"results": list(range(1, items + 1))})


def fastest(measure: Callable[[], float], repeats: int) -> float:
    """Measure several times and give the least: what disturbs a measurement only ever slows it down."""
    return min(measure() for _ in range(repeats))


def _program(length: int, state: Plan, output: Plan, first: str, steps: Plan, initial: Plan) -> Program:
    plan: Plan = {
        "name": "bench",
        "state_schema": {"type": "object", "properties": state},
        "initial_state": initial,
        "output_schema": output,
        "start": first,
        "steps": steps,
        "limits": {"max_steps": length},
    }
    return compile_program(plan, contracts=CONTRACTS)


def _drive(program: Program, workflow_input: Plan, expected: Plan) -> float:
    run = start(program, run_id="run_bench", input=workflow_input)
    began = time.perf_counter()
    while isinstance(work := next_work(program, run, now=NOW), Ready):
        for call in work.calls:
            value = call.input["value"]
            assert isinstance(value, int)
            complete(program, run, call.call_id, outcome="ok", output={"value": value + 1}, now=NOW)
        run.take_trace()
    took = time.perf_counter() - began
    assert run.output == expected, run.error
    return took
