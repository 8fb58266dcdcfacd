"""The capabilities of `wf.std`. Each answers `{"value": …}` and changes nothing outside the run.

Owns their contracts and what the pure ones do. `now` and `uuid` are answered by `wf_mcp.sources.std`, which has a clock
and chance; `sleep` is carried out by the kernel itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NoReturn, TypeAlias, cast

from wf_core.calls.contract import CAPABILITY_ERROR, ERROR_OUTCOME, Contract, Hints
from wf_core.errors import NotJson, StepFailed, WfError
from wf_core.jsonvalue import JsonValue, as_text, check, dumps, loads
from wf_core.paths import MISSING, format_path, lookup, parse_local_path

Input: TypeAlias = dict[str, Any]
"""Fits the capability's input schema: whoever calls has checked that."""


@dataclass(frozen=True, slots=True)
class StdCapability:
    """A built-in capability."""

    name: str
    """Without `wf.std.`."""
    title: str
    description: str
    contract: Contract
    call: Callable[[Input], tuple[str, JsonValue]] | None
    """Input -> outcome and output; raises StepFailed. None where the answer comes from outside this package."""


def _constant(given: Input) -> JsonValue:
    return given["value"]


def _fail(given: Input) -> NoReturn:
    raise StepFailed(given.get("code", CAPABILITY_ERROR), given["message"])


def _length(given: Input) -> JsonValue:
    return len(given["value"])


def _keys(given: Input) -> JsonValue:
    return list(given["value"])


def _get(given: Input) -> JsonValue:
    segments = _local_path(given["path"])
    found = lookup(given["value"], segments)
    if found is not MISSING:
        return found
    if "default" in given:
        return given["default"]
    raise StepFailed("path_not_found", f"There is nothing at {format_path(segments)}, and no default was given.")


def _sort(given: Input) -> JsonValue:
    segments = _local_path(given.get("by", "."))
    items = cast("list[JsonValue]", given["items"])
    keys = [lookup(item, segments) for item in items]
    for kind in _ORDERED:
        if all(isinstance(key, kind) and not isinstance(key, bool) for key in keys):
            pairs = sorted(
                zip(cast("list[Any]", keys), items, strict=True), key=itemgetter(0), reverse=given.get("reverse", False)
            )
            return [item for _, item in pairs]
    what = "elements" if not segments else f"values at {format_path(segments)}"
    raise StepFailed(
        CAPABILITY_ERROR, f"Only numbers with numbers and texts with texts have an order; the {what} are not."
    )


def _slice(given: Input) -> JsonValue:
    start, end = (None if bound is None else int(bound) for bound in (given.get("start"), given.get("end")))
    return given["items"][start:end]


def _join_text(given: Input) -> JsonValue:
    return given.get("separator", "").join(as_text(item) for item in given["items"])


def _split_text(given: Input) -> JsonValue:
    return given["text"].split(given.get("separator"))


def _parse_json(given: Input) -> JsonValue:
    try:
        value = loads(given["text"], "text")
        check(value, "text")
    except NotJson as exc:
        raise StepFailed(CAPABILITY_ERROR, exc.message) from exc
    return value


def _to_json(given: Input) -> JsonValue:
    return dumps(given["value"]).decode()


_ORDERED: tuple[Any, ...] = ((int, float), str)


def _local_path(text: str) -> tuple[str, ...]:
    try:
        return parse_local_path(text)
    except WfError as exc:
        raise StepFailed(exc.code, str(exc)) from exc


_ANY: JsonValue = {}
_TEXT: JsonValue = {"type": "string"}
_ARRAY: JsonValue = {"type": "array"}


def _std(
    name: str,
    title: str,
    description: str,
    *,
    takes: Mapping[str, JsonValue],
    optional: Mapping[str, JsonValue] | None = None,
    value: JsonValue = _ANY,
    outcomes: tuple[str, ...] = ("ok",),
    deferred: bool = False,
    answer: Callable[[Input], JsonValue] | None = None,
) -> StdCapability:
    """Describe a capability by its required and optional inputs and its answer."""
    contract = Contract(
        input_schema={
            "type": "object",
            "properties": {**takes, **(optional or {})},
            "required": list(takes),
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "properties": {"value": value},
            "required": ["value"],
            "additionalProperties": False,
        },
        outcomes=outcomes,
        hints=Hints(read_only=True, idempotent=True, destructive=False),
        deferred=deferred,
    )
    return StdCapability(name, title, description, contract, None if answer is None else _answering(answer))


def _answering(answer: Callable[[Input], JsonValue]) -> Callable[[Input], tuple[str, JsonValue]]:
    return lambda given: ("ok", {"value": answer(given)})


_CODE: JsonValue = {
    "type": "string",
    "pattern": r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$",
    "not": {"const": WfError.code},
}
"""What a plan may call its own failure. That we are at fault is not for a plan to say."""

_DECLARED = (
    _std(
        "constant",
        "Constant",
        "Answer the value that was given. For literals, and for values put together by expressions.",
        takes={"value": _ANY},
        answer=_constant,
    ),
    _std(
        "fail",
        "Fail",
        "Always fail, with this message and code (default capability_error).",
        takes={"message": _TEXT},
        optional={"code": _CODE},
        outcomes=("ok", ERROR_OUTCOME),
        answer=_fail,
    ),
    _std(
        "now",
        "Now",
        "The time in UTC, as 2026-11-30T10:00:00.000Z. Recorded, so that the run never sees another.",
        takes={},
        value=_TEXT,
    ),
    _std("uuid", "UUID", "A new random UUID. Recorded, so that the run never sees another.", takes={}, value=_TEXT),
    _std(
        "sleep",
        "Sleep",
        "Wait this many seconds. The wait is stored: it goes on while no process runs. Answers the seconds.",
        takes={"seconds": {"type": "number", "minimum": 0}},
        value={"type": "number"},
        deferred=True,
    ),
    _std(
        "length",
        "Length",
        "Count the characters of a text, the elements of an array or the keys of an object.",
        takes={"value": {"type": ["string", "array", "object"]}},
        value={"type": "integer"},
        answer=_length,
    ),
    _std(
        "keys",
        "Keys",
        "List the keys of an object, in their order.",
        takes={"value": {"type": "object"}},
        value={"type": "array", "items": _TEXT},
        answer=_keys,
    ),
    _std(
        "get",
        "Get",
        "Read a local path, such as rows.0.id, inside a value. Fails with path_not_found, or answers the default.",
        takes={"value": _ANY, "path": _TEXT},
        optional={"default": _ANY},
        answer=_get,
    ),
    _std(
        "sort",
        "Sort",
        "Sort numbers or texts, or elements by the number or text at a local path in each. Equals keep their order.",
        takes={"items": _ARRAY},
        optional={"by": _TEXT, "reverse": {"type": "boolean"}},
        value=_ARRAY,
        answer=_sort,
    ),
    _std(
        "slice",
        "Slice",
        "Take the elements from start up to, but without, end. Negative numbers count from the end.",
        takes={"items": _ARRAY},
        optional={"start": {"type": "integer"}, "end": {"type": "integer"}},
        value=_ARRAY,
        answer=_slice,
    ),
    _std(
        "join_text",
        "Join text",
        "Join elements to one text, with the separator (default none) between them. What is no text is compact JSON.",
        takes={"items": _ARRAY},
        optional={"separator": _TEXT},
        value=_TEXT,
        answer=_join_text,
    ),
    _std(
        "split_text",
        "Split text",
        "Split a text at every separator; without one, into its words.",
        takes={"text": _TEXT},
        optional={"separator": {"type": "string", "minLength": 1}},
        value={"type": "array", "items": _TEXT},
        answer=_split_text,
    ),
    _std("parse_json", "Parse JSON", "Read a value from its JSON text.", takes={"text": _TEXT}, answer=_parse_json),
    _std(
        "to_json", "To JSON", "Write a value as compact JSON text.", takes={"value": _ANY}, value=_TEXT, answer=_to_json
    ),
)

STD: Mapping[str, StdCapability] = {capability.name: capability for capability in _DECLARED}
"""Name -> capability, in the order in which they are listed."""
