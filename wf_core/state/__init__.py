"""Everything the kernel needs to go on with a run, as plain records. What changes them is `wf_core.runtime`."""

from wf_core.state.frames import (
    Asking,
    Calling,
    ChildEnd,
    Delayed,
    Doubtful,
    Frame,
    InChild,
    Looping,
    Role,
    RunError,
)
from wf_core.state.layers import Layer, Write
from wf_core.state.pending import Call, Interrupt, Settled, SideEffects
from wf_core.state.run import FINAL, Counters, Lineage, RunState, RunStatus, Scope

__all__ = [
    "FINAL",
    "Asking",
    "Call",
    "Calling",
    "ChildEnd",
    "Counters",
    "Delayed",
    "Doubtful",
    "Frame",
    "InChild",
    "Interrupt",
    "Layer",
    "Lineage",
    "Looping",
    "Role",
    "RunError",
    "RunState",
    "RunStatus",
    "Scope",
    "Settled",
    "SideEffects",
    "Write",
]
