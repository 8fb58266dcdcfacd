"""The stored form of a run: format `wf.run`, version 1.

What its body says is written in `writing` and read in `reading`.
"""

from typing import Final

from wf_core.codec import envelope
from wf_core.codec.integrity import check_references
from wf_core.codec.reading import read_run
from wf_core.codec.writing import write_run
from wf_core.state import RunState

FORMAT: Final = "wf.run"
VERSION: Final = 1


def dump_run(run: RunState) -> bytes:
    """Write a run. Runs that are equal give equal bytes."""
    return envelope.dump(FORMAT, VERSION, write_run(run))


def load_run(data: bytes) -> RunState:
    """Read a run.

    Raises:
        StateCorrupt: damaged, or contradicting itself; the error says where.
        FormatTooNew: written by a newer version.
    """
    run = read_run(envelope.load(data, format=FORMAT, supported=VERSION))
    check_references(run)
    return run
