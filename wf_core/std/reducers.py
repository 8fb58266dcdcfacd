"""What each reducer does when a write meets the value that is there. Their names are `wf_core.plan.reducers`.

Nothing here changes the value that was there: siblings and earlier checkpoints may still hold it.
"""

from collections.abc import Callable, Mapping

from wf_core.errors import NotJson, StepFailed
from wf_core.jsonvalue import JsonValue, canonical, check, kind_of
from wf_core.paths import MISSING, Missing

Number = int | float


def reduce(name: str, current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    """Give what stands at a path after a write. A missing `current` is an empty list or object, or just `incoming`.

    Raises:
        StepFailed: `reducer_type_error` where the reducer cannot take one of the two values.
        KeyError: there is no reducer of this name.
    """
    return _REDUCERS[name](current, incoming)


def _replace(_: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    return incoming


def _append(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    return [*_list("append", "the value there", current), incoming]


def _extend(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    return [*_list("extend", "the value there", current), *_list("extend", "the incoming value", incoming)]


def _add(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    added = _number("add", "the incoming value", incoming)
    if current is MISSING:
        return added
    try:
        total = _number("add", "the value there", current) + added
        check(total, "the sum")
    except (NotJson, OverflowError) as exc:
        raise StepFailed("reducer_type_error", "add cannot hold the sum: it is too large a number.") from exc
    return total


def _max(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    offered = _number("max", "the incoming value", incoming)
    return offered if current is MISSING else max(_number("max", "the value there", current), offered)


def _min(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    offered = _number("min", "the incoming value", incoming)
    return offered if current is MISSING else min(_number("min", "the value there", current), offered)


def _merge_object(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    return {**_object("the value there", current), **_object("the incoming value", incoming)}


def _set_union(current: JsonValue | Missing, incoming: JsonValue) -> JsonValue:
    there = _list("set_union", "the value there", current)
    elements = [*there, *_list("set_union", "the incoming value", incoming)]
    first_seen: dict[bytes, JsonValue] = {}
    for element in elements:
        first_seen.setdefault(canonical(element), element)
    return list(first_seen.values())


_REDUCERS: Mapping[str, Callable[[JsonValue | Missing, JsonValue], JsonValue]] = {
    "replace": _replace,
    "append": _append,
    "extend": _extend,
    "add": _add,
    "max": _max,
    "min": _min,
    "merge_object": _merge_object,
    "set_union": _set_union,
}


def _list(reducer: str, role: str, value: JsonValue | Missing) -> list[JsonValue]:
    if value is MISSING:
        return []
    if not isinstance(value, list):
        raise _type_error(reducer, role, "an array", value)
    return value


def _object(role: str, value: JsonValue | Missing) -> dict[str, JsonValue]:
    if value is MISSING:
        return {}
    if not isinstance(value, dict):
        raise _type_error("merge_object", role, "an object", value)
    return value


def _number(reducer: str, role: str, value: JsonValue) -> Number:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _type_error(reducer, role, "a number", value)
    return value


def _type_error(reducer: str, role: str, wanted: str, value: JsonValue) -> StepFailed:
    return StepFailed("reducer_type_error", f"{reducer} takes {wanted}, but {role} is {kind_of(value)}.")
