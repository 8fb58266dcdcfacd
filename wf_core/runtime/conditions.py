"""Conditions, compiled: each becomes a function from what a step can see to true or false."""

import operator
from collections.abc import Callable

from wf_core.errors import InvalidSchema, StepFailed
from wf_core.jsonvalue import JsonValue, equal, kind_of
from wf_core.paths import Missing
from wf_core.plan import Compare, Condition, Exists, Logic, Not
from wf_core.runtime.expressions import compile_find, compile_peek
from wf_core.runtime.views import View
from wf_core.schemas import compile_pattern

Ask = Callable[[View], bool]
Relation = Callable[[JsonValue, JsonValue], bool]

_ORDER: dict[str, Callable[[float, float], bool]] = {
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}


def compile_condition(condition: Condition) -> Ask:
    """Compile a condition. The result raises `StepFailed`: `path_not_found`, `condition_type_error`."""
    match condition:
        case Exists(path=path):
            find = compile_find(path)
            return lambda view: not isinstance(find(view), Missing)
        case Not(arg=arg):
            ask = compile_condition(arg)
            return lambda view: not ask(view)
        case Logic(op=op, args=args):
            asks = [compile_condition(arg) for arg in args]
            if op == "and":
                return lambda view: all(ask(view) for ask in asks)
            return lambda view: any(ask(view) for ask in asks)
        case Compare(op=op, left=left, right=right):
            return _compile_compare(op, compile_peek(left), compile_peek(right))


def _compile_compare(op: str, left: Callable[[View], JsonValue], right: Callable[[View], JsonValue]) -> Ask:
    match op:
        case "eq":
            return lambda view: equal(left(view), right(view))
        case "ne":
            return lambda view: not equal(left(view), right(view))
        case "in":
            relation: Relation = _contained
        case "matches":
            relation = _matches
        case _:
            relation = _ordered(op)
    return lambda view: relation(left(view), right(view))


def _ordered(op: str) -> Relation:
    compare = _ORDER[op]

    def ordered(left: JsonValue, right: JsonValue) -> bool:
        if _number(left) and _number(right):
            return compare(left, right)  # type: ignore[arg-type]  # both numbers
        if isinstance(left, str) and isinstance(right, str):
            # Python orders text by code point, as the language does.
            return compare(left, right)  # type: ignore[arg-type]
        raise _type_error(op, left, right, "two numbers or two texts")

    return ordered


def _contained(left: JsonValue, right: JsonValue) -> bool:
    if isinstance(right, list):
        return any(equal(left, element) for element in right)
    if isinstance(right, (str, dict)) and isinstance(left, str):
        return left in right
    raise _type_error(
        "in", left, right, "an array on the right, or a text on the left and a text or an object on the right"
    )


def _matches(left: JsonValue, right: JsonValue) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        try:
            return compile_pattern(right).matches(left)
        except InvalidSchema as bad:
            raise StepFailed("condition_type_error", f"matches takes a pattern: {bad.message}") from bad
    raise _type_error("matches", left, right, "a text and a pattern")


def _number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _type_error(op: str, left: JsonValue, right: JsonValue, wanted: str) -> StepFailed:
    found = f"{kind_of(left)} and {kind_of(right)}"
    return StepFailed("condition_type_error", f"{op} takes {wanted}, got {found}.")
