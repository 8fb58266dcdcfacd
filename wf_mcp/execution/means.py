"""What it takes to advance runs: the same for every run of a program."""

from collections.abc import Callable
from dataclasses import dataclass, field

from wf_artifacts.calls.store import CallCache
from wf_artifacts.clock import Clock
from wf_artifacts.runs.store import RunStore
from wf_core.calls.policy import IsolationSpec
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.programs import Programs
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.sources.registry import SourceRegistry

RunnerOf = Callable[[IsolationSpec, str], DeploymentRunner | None]
_NOBODY: RunnerOf = lambda spec, source: None  # noqa: ARG005, E731


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
    cache: CallCache | None = None
    """Where results are kept of calls whose policy wants that; None keeps none."""
    runner: RunnerOf = _NOBODY
    """Gives who carries out an isolated call of a source; None where nobody does."""
