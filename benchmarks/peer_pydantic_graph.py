"""pydantic-graph on the chain of `workloads`, in memory. Runs in the environment that `peers` makes.

Prints the seconds as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass

from pydantic_graph import BaseNode, End, Graph, GraphRunContext


@dataclass
class State:
    value: int
    length: int


@dataclass
class Step(BaseNode[State, None, int]):
    async def run(self, ctx: GraphRunContext[State]) -> Step | End[int]:
        ctx.state.value += 1
        return End(ctx.state.value) if ctx.state.value >= ctx.state.length else Step()


async def chain(length: int) -> float:
    graph = Graph(nodes=(Step,), auto_instrument=False)
    began = time.perf_counter()
    result = await graph.run(Step(), state=State(0, length))
    took = time.perf_counter() - began
    assert result.output == length
    return took


if __name__ == "__main__":
    print(json.dumps(asyncio.run(chain(int(sys.argv[1])))))
