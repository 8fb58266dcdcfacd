"""LangGraph on the work of the benchmarks. Runs in the environment of the peers; prints the seconds as JSON.

`chain` and `fan_out` are in memory, without a checkpointer; `durable` writes each step to SQLite before the next.
"""

import json
import operator
import sys
import tempfile
import time
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send


class Value(TypedDict):
    value: int


class Items(TypedDict):
    items: list[int]
    results: Annotated[list[int], operator.add]


def chain(length: int) -> float:
    graph = StateGraph(Value)
    for number in range(length):
        graph.add_node(f"s{number}", lambda state: {"value": state["value"] + 1})
        graph.add_edge(START if number == 0 else f"s{number - 1}", f"s{number}")
    graph.add_edge(f"s{length - 1}", END)
    app = graph.compile()
    began = time.perf_counter()
    result = app.invoke({"value": 0}, {"recursion_limit": length + 10})
    took = time.perf_counter() - began
    assert result == {"value": length}
    return took


def fan_out(items: int) -> float:
    graph = StateGraph(Items)
    graph.add_node("body", lambda state: {"results": [state["item"] + 1]})
    graph.add_conditional_edges(
        START, lambda state: [Send("body", {"item": item}) for item in state["items"]], ["body"]
    )
    graph.add_edge("body", END)
    app = graph.compile()
    began = time.perf_counter()
    result = app.invoke({"items": list(range(items)), "results": []})
    took = time.perf_counter() - began
    assert len(result["results"]) == items
    return took


def durable(length: int) -> float:
    with tempfile.TemporaryDirectory(dir=".") as folder, SqliteSaver.from_conn_string(f"{folder}/steps.db") as saver:
        graph = StateGraph(Value)
        graph.add_node("step", lambda state: {"value": state["value"] + 1})
        graph.add_edge(START, "step")
        graph.add_conditional_edges("step", lambda state: END if state["value"] >= length else "step", [END, "step"])
        app = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "bench"}, "recursion_limit": length + 10}
        began = time.perf_counter()
        result = app.invoke({"value": 0}, config, durability="sync")
        took = time.perf_counter() - began
    assert result == {"value": length}
    return took


WORK = {"chain": chain, "fan_out": fan_out, "durable": durable}

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](int(sys.argv[2]))))
