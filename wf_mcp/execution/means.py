"""What it takes to advance runs: the same for every run of a program."""

from collections.abc import Callable
from dataclasses import dataclass, field

from wf_artifacts.clock import Clock
from wf_artifacts.runs.store import RunStore
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.programs import Programs
from wf_mcp.sources.registry import SourceRegistry


@dataclass(frozen=True, slots=True)
class Means:
    """The stores, the sources, time and chance."""

    store: RunStore
    registry: SourceRegistry
    clock: Clock
    chance: Callable[[], float]
    """Gives a number from 0 to 1: jitter for the delays between attempts."""
    max_bytes: int
    changes: Changes = field(default_factory=Changes)
    """Told of each time a run is stored."""
    programs: Programs = field(default_factory=Programs)
