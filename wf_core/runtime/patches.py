"""Committing what a step writes: all of it, or nothing.

Every write is reduced into the value that is there, every top-level field that was touched is proved valid, and only
then does the layer change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue
from wf_core.paths import MISSING, Missing, Segments, format_path, lookup, overlaps
from wf_core.runtime.faults import fault, refuse_deep
from wf_core.runtime.targets import StateShape, Target
from wf_core.schemas import Check
from wf_core.state import Layer, Write
from wf_core.std.reducers import reduce

_SHALLOW = 16
"""Segments of a path that a stored document has room for above any value that a step may give."""

Changes = dict[str, dict[str, JsonValue]]
"""For the trace: state path -> {reducer: the incoming value}. What an append notes is the element, not the list."""


@dataclass(slots=True)
class _Plan:
    """What will change, worked out before anything does."""

    fields: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Field -> its new value."""
    appends: list[tuple[Segments, JsonValue]] = field(default_factory=list[tuple[Segments, JsonValue]])
    """List -> element, of the appends that are proved valid already."""
    unproved: dict[str, None] = field(default_factory=dict[str, None])
    """Fields that have to be checked as a whole, in the order in which they were touched."""
    local: dict[Segments, Target] = field(default_factory=dict[Segments, Target])
    """Paths whose value alone has to be checked."""


def apply_writes(shape: StateShape, layer: Layer, writes: Sequence[tuple[Target, JsonValue]]) -> Changes:
    """Commit one step's writes to a layer, and say what changed.

    Raises:
        StepFailed: `reducer_type_error` or `state_invalid`; the layer is as it was.
    """
    if len(writes) != 1 or not _write_at_once(layer, *writes[0]):
        plan = _Plan()
        for target, value in writes:
            if not _plan_appends(plan, layer, target, [value]):
                _plan_write(plan, layer, target, target.reducer, value)
        _prove(shape, plan)
        _commit(plan, layer, [(target.path, target.reducer, value) for target, value in writes])
    return {target.text: {target.reducer: value} for target, value in writes}


def _write_at_once(layer: Layer, target: Target, value: JsonValue) -> bool:
    """Commit a step's only write, where it is one of the two that most steps make. False: nothing was committed."""
    match target.reducer:
        case "replace" if len(target.path) == 1:
            _require(target.check, value, target.text)
            layer.replace(target.path[0], value)
        case "append" if _takes(layer, target, [value]):
            layer.append(target.path, value)
        case _:
            return False
    if layer.log is not None:
        layer.log.append((target.path, target.reducer, value))
    return True


def merge_writes(shape: StateShape, layer: Layer, logs: Sequence[Sequence[Write]]) -> None:
    """Commit the writes of a loop's items, in the order given, as one patch.

    Raises:
        StepFailed: as `apply_writes`; the layer is as it was.
    """
    plan = _Plan()
    writes = [write for log in logs for write in log]
    fields: dict[str, dict[tuple[Segments, str], list[JsonValue]]] = {}
    for path, reducer, value in writes:
        fields.setdefault(path[0], {}).setdefault((path, reducer), []).append(value)
    for name, groups in fields.items():
        if any(overlaps(one[0], other[0]) for one, other in combinations(groups, 2)):
            # The order of these writes matters, so they are not taken together.
            for path, reducer, value in (write for write in writes if write[0][0] == name):
                _plan_write(plan, layer, shape.target(path, reducer), reducer, value)
        else:
            for (path, reducer), values in groups.items():
                _plan_merge(plan, layer, shape.target(path, reducer), values)
    _prove(shape, plan)
    _commit(plan, layer, writes)


def _plan_merge(plan: _Plan, layer: Layer, target: Target, values: list[JsonValue]) -> None:
    """Plan all writes to one path; those that build a list are reduced together, for n copies of it would cost n²."""
    match target.reducer:
        case "append":
            if not _plan_appends(plan, layer, target, values):
                _plan_write(plan, layer, target, "extend", values)
        case "extend" | "set_union" if all(isinstance(value, list) for value in values):
            chained = [element for value in values if isinstance(value, list) for element in value]
            _plan_write(plan, layer, target, target.reducer, chained)
        case _:
            for value in values:
                _plan_write(plan, layer, target, target.reducer, value)


def _plan_appends(plan: _Plan, layer: Layer, target: Target, values: list[JsonValue]) -> bool:
    """Plan appends to a list that is there and that no other write touches. False: nothing was planned."""
    if not _takes(layer, target, values):
        return False
    plan.appends.extend((target.path, value) for value in values)
    return True


def _takes(layer: Layer, target: Target, values: list[JsonValue]) -> bool:
    """Tell whether appends leave a list that is there valid, without copying or checking the list."""
    element = target.element
    if element is None:
        return False
    length = layer.length(target.path)
    return length is not None and all(element.accepts(value, length + nth) for nth, value in enumerate(values, 1))


def _plan_write(plan: _Plan, layer: Layer, target: Target, reducer: str, value: JsonValue) -> None:
    """Plan a write by copying the objects along its path."""
    name = target.path[0]
    base: JsonValue | Missing = plan.fields[name] if name in plan.fields else layer.field(name)
    written, existed = _written(base, target.path[1:], target, reducer, value)
    if len(target.path) > _SHALLOW:
        refuse_deep("state_invalid", target.text, written)
    plan.fields[name] = written
    if target.local and existed:
        plan.local[target.path] = target
    else:
        plan.unproved[name] = None


def _written(
    base: JsonValue | Missing, rest: Segments, target: Target, reducer: str, value: JsonValue
) -> tuple[JsonValue, bool]:
    """Give `base` with the value reduced in at `rest`, and whether every object on the way was there before."""
    if not rest:
        return reduce(reducer, base, value), True
    if isinstance(base, Missing):
        inner, _ = _written(MISSING, rest[1:], target, reducer, value)
        return {rest[0]: inner}, False
    if not isinstance(base, dict):
        raise StepFailed("state_invalid", f"{target.text} leads through a value that is not an object.")
    inner, existed = _written(base.get(rest[0], MISSING), rest[1:], target, reducer, value)
    return {**base, rest[0]: inner}, existed


def _prove(shape: StateShape, plan: _Plan) -> None:
    """Check what will be there when all writes are done; what was there in between is nobody's concern."""
    for name in plan.unproved:
        _require(shape.field_check(name), plan.fields[name], format_path(("state", name)))
    for path, target in plan.local.items():
        if path[0] not in plan.unproved:
            _require(target.check, lookup(plan.fields[path[0]], path[1:]), target.text)


def _require(check: Check | None, value: JsonValue | Missing, where: str) -> None:
    found = None if isinstance(value, Missing) else fault(check, value, where)
    if found is not None:
        text = f"The state would not fit its schema: {found.text}"
        raise StepFailed("state_invalid", text, details={"problems": found.problems})


def _commit(plan: _Plan, layer: Layer, writes: Sequence[Write]) -> None:
    if plan.fields:
        if layer.owned:
            replaced = {path for path, _, _ in writes} - {path for path, _ in plan.appends}
            layer.owned = {ours for ours in layer.owned if not any(ours[: len(path)] == path for path in replaced)}
        layer.values.update(plan.fields)
    for path, value in plan.appends:
        layer.append(path, value)
    if layer.log is not None:
        layer.log.extend(writes)
