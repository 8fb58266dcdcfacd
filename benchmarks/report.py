"""How every benchmark ends: what was measured against what is promised, one line of JSON, and the exit status."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure and the bound it has to keep."""

    name: str
    value: float
    bound: float
    at_least: bool
    """Whether the bound is the least that is wanted, or the most."""

    @property
    def kept(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        wanted = "at least" if self.at_least else "at most"
        verdict = "" if self.kept else "   FELL SHORT"
        return f"{self.name:<64}{self.value:>12,.4g}   {wanted} {self.bound:,g}{verdict}"


def finish(benchmark: str, figures: Sequence[Figure], measured: dict[str, Any], *, check: bool) -> int:
    """Print the figures and, last, one line of JSON; give the exit status: 1 when checked and a figure fell short."""
    print()
    for figure in figures:
        print(figure)
    short = [figure.name for figure in figures if not figure.kept]
    if check and short:
        print("\nfell short: " + "; ".join(short))
    values = {figure.name: round(figure.value, 4) for figure in figures}
    print(json.dumps({"benchmark": benchmark, "figures": values, "measured": measured, "fell_short": short}))
    return 1 if check and short else 0
