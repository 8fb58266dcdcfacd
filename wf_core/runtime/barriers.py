"""Where the writes of concurrent items, and of branches, meet.

Owns the order in which sibling writes are reduced (item index, then write order) and the refusal of writes that cannot
meet. Which writes an item can *see* is decided in `wf_core.state.layers`; opening and closing items in `loops`.
"""

from collections.abc import Callable, Mapping, Sequence

from wf_core.errors import StepFailed
from wf_core.paths import Segments, format_path
from wf_core.plan.reducers import MERGEABLE
from wf_core.runtime.patches import merge_writes
from wf_core.runtime.targets import StateShape
from wf_core.state import Layer, Write

Name = Callable[[int], str]
"""What an item is called in messages, by its index."""

_ITEM: Name = "item {}".format


def meet(shape: StateShape, layer: Layer, writes: Mapping[int, Sequence[Write]], name: Name = _ITEM) -> None:
    """Commit the writes of all items to the layer below them, as one patch.

    Raises:
        StepFailed: `conflicting_writes`, `state_invalid`, `reducer_type_error`; nothing was committed.
    """
    refuse_conflicts(writes, name)
    merge_writes(shape, layer, [writes[index] for index in sorted(writes)])


def refuse_conflicts(writes: Mapping[int, Sequence[Write]], name: Name = _ITEM) -> None:
    """Refuse writes of several items to one path whose reducer does not allow it, or to a path and to one inside it.

    Raises:
        StepFailed: `conflicting_writes`, naming both items and paths.
    """
    writers: dict[Segments, set[int]] = {}
    reducers: dict[Segments, set[str]] = {}
    for index in sorted(writes):
        for path, reducer, _ in writes[index]:
            writers.setdefault(path, set()).add(index)
            reducers.setdefault(path, set()).add(reducer)
    for path, items in writers.items():
        if len(items) > 1 and not (len(reducers[path]) == 1 and reducers[path] <= MERGEABLE):
            first, second = sorted(items)[:2]
            raise _conflict(name, path, first, path, second)
        for depth in range(1, len(path)):
            outer = path[:depth]
            others = writers.get(outer, set()) - items if len(items) == 1 else writers.get(outer)
            if others:
                first = min(others)
                raise _conflict(name, outer, first, path, min(items - {first}))


def _conflict(name: Name, one: Segments, first: int, other: Segments, second: int) -> StepFailed:
    one_text, other_text = format_path(("state", *one)), format_path(("state", *other))
    return StepFailed(
        "conflicting_writes",
        f"{one_text} is written by {name(first)} and {other_text} by {name(second)}; these writes cannot be merged. "
        "Give the path a reducer such as append, or let each of them write a path of its own.",
        details={"items": [first, second], "paths": [one_text, other_text]},
    )
