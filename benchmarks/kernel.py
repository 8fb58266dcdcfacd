"""How fast the kernel is by itself, and that a step costs the same whatever came before it and lies beside it.

python benchmarks/kernel.py            tables, then one line of JSON
python benchmarks/kernel.py --check    the same; exit status 1, naming what fell short
python benchmarks/kernel.py --full     more repetitions
"""

import argparse
import sys
from statistics import median

from report import Figure, finish
from workloads import chain, fan_out, fastest, seconds_of_chain, seconds_of_fan_out

CHAINS = (100, 1_000, 10_000)
ITEMS = (1_000, 10_000)
BALLAST = ["x" * 100] * 10_000
"""About 1 MB of state that no step touches."""


def chains(repeats: int) -> dict[int, float]:
    """Give microseconds a step by length; the lengths take turns, so that a busy moment slows down them all."""
    programs = {length: chain(length) for length in CHAINS}
    taken = {length: list[float]() for length in CHAINS}
    for _ in range(repeats):
        for length, program in programs.items():
            # A short run is repeated until it has executed as many steps as the longest.
            runs = [seconds_of_chain(program, length) for _ in range(CHAINS[-1] // length)]
            taken[length].append(median(runs) / length * 1e6)
    return {length: min(each) for length, each in taken.items()}


def loops(repeats: int) -> dict[str, dict[int, float]]:
    """Give seconds by mode and number of items."""
    found: dict[str, dict[int, float]] = {}
    for mode in ("serial", "concurrent"):
        programs = {items: fan_out(mode, items) for items in ITEMS}
        found[mode] = {
            items: fastest(lambda program=program, items=items: seconds_of_fan_out(program, items), repeats)
            for items, program in programs.items()
        }
    return found


def beside_ballast(repeats: int) -> float:
    """Give how many times slower a step is that touches a small field of a large state."""
    program, length = chain(1_000), 1_000
    ratios = [
        seconds_of_chain(program, length, BALLAST) / seconds_of_chain(program, length) for _ in range(2 * repeats + 1)
    ]
    return median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the kernel.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound is not kept")
    parser.add_argument("--full", action="store_true", help="more repetitions")
    options = parser.parse_args()
    repeats = 15 if options.full else 5
    cost = chains(repeats)
    for length, each in cost.items():
        print(f"a chain of {length:>6,} steps: {each:6.1f} µs a step, {1e6 / each:9,.0f} steps a second")
    taken = loops(repeats)
    for mode, seconds in taken.items():
        for items, each in seconds.items():
            print(f"a {mode} loop over {items:>6,} items: {each:6.3f} s")
    figures = [
        Figure("steps a second of the slowest chain", 1e6 / max(cost.values()), 20_000, at_least=True),
        Figure(
            "cost of a step, dearest to cheapest chain", max(cost.values()) / min(cost.values()), 1.2, at_least=False
        ),
        *(
            Figure(f"seconds, {mode} loop, 10,000 to 1,000 items", seconds[10_000] / seconds[1_000], 12, at_least=False)
            for mode, seconds in taken.items()
        ),
        Figure("seconds, concurrent loop over 10,000 items", taken["concurrent"][10_000], 1, at_least=False),
        Figure("cost of a step beside 1 MB of state to one beside none", beside_ballast(repeats), 1.5, at_least=False),
    ]
    measured = {"microseconds_per_step": {str(length): round(each, 2) for length, each in cost.items()}}
    return finish("kernel", figures, measured, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
