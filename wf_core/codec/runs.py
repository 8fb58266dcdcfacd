"""The stored form of a run: format `wf.run`, version 4.

What its body says is written in `writing` and read in `reading`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from wf_core.codec import envelope
from wf_core.codec.integrity import check_references
from wf_core.codec.reading import read_run
from wf_core.codec.writing import write_run
from wf_core.state import RunState

FORMAT: Final = "wf.run"
VERSION: Final = 4
_PLAIN: Final = 3
"""The last version without a checksum."""


def dump_run(run: RunState) -> bytes:
    """Write a run. Runs that are equal give equal bytes."""
    return envelope.dump(FORMAT, VERSION, write_run(run))


def load_run(data: bytes) -> RunState:
    """Read a run.

    Raises:
        StateCorrupt: damaged, or contradicting itself; the error says where.
        FormatTooNew: written by a newer version.
    """
    run = read_run(envelope.load(data, format=FORMAT, supported=VERSION, plain=_PLAIN, upgrades=_UPGRADES))
    check_references(run)
    return run


def _with_settled(body: envelope.Body) -> envelope.Body:
    """Version 1 did not say what a person had said of a call."""
    for call in _calls(body):
        call["settled"] = None
    return body


def _with_pending(body: envelope.Body) -> envelope.Body:
    """Version 2 knew calls in doubt, and no others that wait; a person settled each."""
    for call in _calls(body):
        if isinstance(call.get("settled"), dict):
            call["settled"]["by"] = "person"
    for frame in _records(body.get("frames")):
        match frame.get("activity"):
            case {"kind": "doubtful", "call": {"started_at": since}} as activity:
                activity |= {"kind": "pending", "awaits": "in_doubt", "reason": ""}
                activity |= {"since": since, "expires_at": None}
            case _:
                pass
    return body


_UPGRADES: Final[Mapping[int, envelope.Upgrade]] = {1: _with_settled, 2: _with_pending}


def _calls(body: envelope.Body) -> Iterator[dict[str, Any]]:
    """Give the calls of a body of which nobody knows yet whether it is sound."""
    waiting: list[Any] = [frame["activity"] for frame in _records(body.get("frames")) if "activity" in frame]
    yield from _records([*_records(body.get("calls")), *(one.get("call") for one in _records(waiting))])


def _records(value: Any) -> list[dict[str, Any]]:
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
