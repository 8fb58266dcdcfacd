"""The kernel beside LangGraph and pydantic-graph on the same work, in memory, in one run.

    python benchmarks/peers.py            a table, then one line of JSON
    python benchmarks/peers.py --check    the same; exit status 1, naming what fell short
    python benchmarks/peers.py --full     more repetitions

The peers live in an environment of their own, which the first run makes (`peer_packages.txt` says what is in it).
"""

import argparse
import sys
from statistics import median
from typing import Any

from environment import ask, peer_python
from report import Figure, finish
from workloads import chain, fan_out, seconds_of_chain, seconds_of_fan_out


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the kernel beside its peers.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound is not kept")
    parser.add_argument("--full", action="store_true", help="more repetitions")
    options = parser.parse_args()
    python, repeats = peer_python(), 5 if options.full else 3
    ours = {
        "chain": chain(1_000),
        "fan-out": fan_out("concurrent", 1_000),
        "large fan-out": fan_out("concurrent", 10_000),
    }
    taken: dict[str, dict[str, list[float]]] = {name: {} for name in ours}

    def note(work: str, who: str, seconds: float) -> None:
        taken[work].setdefault(who, []).append(seconds)

    for _ in range(repeats):
        note("chain", "wf-mcp", median(seconds_of_chain(ours["chain"], 1_000) for _ in range(5)))
        note("chain", "langgraph", ask(python, "peer_langgraph.py", "chain", "1000"))
        note("chain", "pydantic-graph", ask(python, "peer_pydantic_graph.py", "1000"))
        note("fan-out", "wf-mcp", median(seconds_of_fan_out(ours["fan-out"], 1_000) for _ in range(5)))
        note("fan-out", "langgraph", ask(python, "peer_langgraph.py", "fan_out", "1000"))
        note("large fan-out", "wf-mcp", seconds_of_fan_out(ours["large fan-out"], 10_000))
    note("large fan-out", "langgraph", ask(python, "peer_langgraph.py", "fan_out", "10000"))

    middle = {work: {who: median(seconds) for who, seconds in each.items()} for work, each in taken.items()}
    for work, each in middle.items():
        print(f"{work:<16}" + "".join(f"{who} {seconds * 1e3:,.1f} ms   " for who, seconds in each.items()))
    figures = [
        Figure("chain, LangGraph's time to ours", _times(middle, "chain", "langgraph"), 10, at_least=True),
        Figure(
            "fan-out over 1,000, LangGraph's time to ours", _times(middle, "fan-out", "langgraph"), 10, at_least=True
        ),
        Figure("fan-out over 10,000, our seconds", middle["large fan-out"]["wf-mcp"], 1, at_least=False),
        Figure("chain, pydantic-graph's time to ours", _times(middle, "chain", "pydantic-graph"), 0.5, at_least=True),
    ]
    measured: dict[str, Any] = {"median_seconds": middle}
    return finish("peers", figures, measured, check=options.check)


def _times(middle: dict[str, dict[str, float]], work: str, peer: str) -> float:
    return middle[work][peer] / middle[work]["wf-mcp"]


if __name__ == "__main__":
    sys.exit(main())
