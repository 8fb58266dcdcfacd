"""Everything the kernel needs to go on with a run, as plain records. What changes them is `wf_core.runtime`."""

from wf_core.state.frames import (
    Activity,
    Asking,
    Calling,
    ChildEnd,
    Delayed,
    Frame,
    InChild,
    Looping,
    Pending,
    Role,
    RunError,
)
from wf_core.state.layers import Layer, Write
from wf_core.state.pending import Awaited, Call, Interrupt, Settled, SideEffects, Speaker, WordKind
from wf_core.state.run import FINAL, Counters, Lineage, RunState, RunStatus, Scope

__all__ = [
    "FINAL",
    "Activity",
    "Asking",
    "Awaited",
    "Call",
    "Calling",
    "ChildEnd",
    "Counters",
    "Delayed",
    "Frame",
    "InChild",
    "Interrupt",
    "Layer",
    "Lineage",
    "Looping",
    "Pending",
    "Role",
    "RunError",
    "RunState",
    "RunStatus",
    "Scope",
    "Settled",
    "SideEffects",
    "Speaker",
    "WordKind",
    "Write",
]
