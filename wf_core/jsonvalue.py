"""Strict JSON: what is a value, how it is written and read, and when two values are the same.

Owns the check that every value passes where it enters, the one encoder and decoder, equality, and shortening.
No codec is right by default: the usual ones turn NaN into null, tuples into lists, the key 1 into "1", and integers
beyond 64 bits into floats or errors. So values are checked first and encoded fast afterwards.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias, cast

import orjson

from wf_core.errors import NotJson

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None

JsonSchema: TypeAlias = dict[str, Any] | bool
"""A JSON Schema. What it says of values is for `wf_core.schemas` to tell."""

MAX_DEPTH: Final = 128
"""Arrays and objects inside each other in one value.

Documents and messages hold values some levels down, so they are deeper: readers of JSON commonly give up at 200."""

MAX_DIGITS: Final = 4300
"""Decimal digits of an integer: more than that and Python itself refuses to write or read it."""

PREVIEW_LENGTH: Final = 256
"""Characters that a shortened value still shows."""

QUOTE_LENGTH: Final = 120
"""Characters of a text that a message quotes."""

_DOCUMENT_DEPTH = 254  # what orjson can write
_INTEGER_BOUND = 10**MAX_DIGITS
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def check(value: object, where: str) -> None:
    """Accept exactly the values that JSON can hold, each of its own Python type.

    Only None, bool, int, finite float, text without lone surrogates, list, and dict with text keys: no subclasses (an
    `IntEnum` or `OrderedDict` would come back as something else), no tuples, no cycles, at most `MAX_DEPTH` levels.

    Raises:
        NotJson: naming the first place that is none of these, as in `state.items[3].when`.
    """
    if not _is_strict(value, MAX_DEPTH):
        _refuse(value, where, MAX_DEPTH)


def dumps(value: object) -> bytes:
    """Write compact UTF-8 JSON. Key order is kept, integers of any size are exact, a tuple is an array.

    Raises:
        NotJson: for NaN, infinities, and whatever has no JSON form. Values that went through `check` never raise.
    """
    try:
        data = orjson.dumps(value, option=_AS_THEY_ARE)
    except TypeError:
        return _dumps_exactly(value, sort_keys=False)
    # orjson writes NaN and infinities as null: only text that holds a null can hide one.
    if b"null" in data and not _is_finite(value):
        _refuse(value, "value", _DOCUMENT_DEPTH, _LISTS_AND_TUPLES)
    return data


def loads(data: bytes | str, where: str = "document") -> JsonValue:
    """Read JSON text, strictly.

    Raises:
        NotJson: for text that is no UTF-8 JSON, a byte order mark, trailing text, NaN, infinities, numbers too large
            for a float, lone surrogates, and keys that occur twice in one object.
    """
    try:
        encoded = data.encode() if isinstance(data, str) else bytes(data)
        value = orjson.loads(encoded)
        # What is written back as it was read had no repeated key and no integer that became a float.
        if orjson.dumps(value) == encoded:
            return value
    except UnicodeEncodeError as exc:
        raise NotJson(where, f"text with a lone surrogate at character {exc.start}") from exc
    except (ValueError, TypeError):
        pass  # The careful reader below finds the reason, or reads what orjson cannot.
    return _loads_carefully(data, where)


def canonical(value: JsonValue) -> bytes:
    """Write a value so that equal values, and only those, give equal bytes: sorted keys, `1.0` as `1`."""
    normal = _integral(value)
    try:
        return orjson.dumps(normal, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _dumps_exactly(normal, sort_keys=True)


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Compare as JSON: `1` equals `1.0`, `true` does not equal `1`, the order of keys does not matter."""
    return left == right and _booleans_agree(left, right)


def clone(value: JsonValue) -> JsonValue:
    """Copy every container, so that changing the copy changes nothing else."""
    if isinstance(value, dict):
        return {key: clone(item) if isinstance(item, (dict, list)) else item for key, item in value.items()}
    if isinstance(value, list):
        return [clone(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def size(value: JsonValue) -> int:
    """Count the UTF-8 bytes of the compact JSON."""
    return len(dumps(value))


def shorten(value: JsonValue, limit: int) -> JsonValue:
    """Copy a value with the smallest parts whose compact JSON exceeds `limit` bytes replaced by a marker.

    The marker is `{"$truncated": true, "bytes": n, "preview": "…"}`. A long text inside an object is replaced and the
    object stays; an object of many small values that is too long as a whole is replaced itself. No container is shared
    with the argument.
    """
    encoded = dumps(value)
    if len(encoded) <= limit:
        return clone(value)
    if isinstance(value, dict):
        short: JsonValue = {key: _shorten_member(item, limit) for key, item in value.items()}
    elif isinstance(value, list):
        short = [_shorten_member(item, limit) for item in value]
    else:
        return _marker(value, encoded)
    return short if size(short) <= limit else _marker(value, encoded)


def storable(text: str) -> str:
    """Give a text from outside as it can be stored: what is no character of a text (a lone surrogate) becomes `?`."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def place(where: str, steps: Iterable[str | int]) -> str:
    """Name a place inside a value: `place("state", ["items", 3, "when"])` is `state.items[3].when`."""
    for step in steps:
        where += f"[{step}]" if isinstance(step, int) else f".{_key(step)}" if where else _key(step)
    return where


def as_text(value: JsonValue) -> str:
    """Write a value into a text: a text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def kind_of(value: JsonValue) -> str:
    """Name the kind of a value in a message: `a text`, `an array`."""
    return _KINDS[type(value)]


def quote(text: str) -> str:
    """Write a text for a message: as a JSON string, not too long, without lone surrogates."""
    shown = text if len(text) <= QUOTE_LENGTH else text[:QUOTE_LENGTH] + "…"
    return json.dumps(shown, ensure_ascii=not _is_encodable(shown))


_KINDS: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "an array",
    dict: "an object",
    type(None): "null",
}

_type_of: Callable[[object], object] = type
"""`type`, without telling the type checker more about the value, which stays of any type."""

_LISTS: frozenset[object] = frozenset({list})
_LISTS_AND_TUPLES = _LISTS | {tuple}
_MAY_BE_INFINITE = _LISTS_AND_TUPLES | {float, dict}

_AS_THEY_ARE = (
    orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
)  # refuses what orjson would otherwise convert


def _is_strict(value: Any, room: int) -> bool:
    """Tell whether a value is strict JSON within `room` levels; fast, without knowing where it is not."""
    kind = _type_of(value)
    if kind is str:
        return value.isascii() or _is_encodable(value)
    if kind is dict:
        return room > 0 and _is_strict_object(value, room - 1)
    if kind is list:
        return room > 0 and _is_strict_array(value, room - 1)
    if kind is int:
        return -_INTEGER_BOUND < value < _INTEGER_BOUND
    if kind is float:
        return math.isfinite(value)
    return value is None or kind is bool


def _is_strict_object(members: dict[Any, Any], room: int) -> bool:
    for key, item in members.items():
        if type(key) is not str or not (key.isascii() or _is_encodable(key)) or not _is_strict(item, room):
            return False
    return True


def _is_strict_array(items: list[Any], room: int) -> bool:
    for item in items:  # noqa: SIM110 - a generator costs a third more here, and every value passes
        if not _is_strict(item, room):
            return False
    return True


def _is_encodable(text: str) -> bool:
    """Tell whether a text has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_finite(value: Any) -> bool:
    """Tell whether a value that orjson has just written holds no NaN and no infinity."""
    kind = _type_of(value)
    if kind is float:
        return math.isfinite(value)
    if kind is dict:
        return _are_finite(value.values())
    return kind not in _LISTS_AND_TUPLES or _are_finite(value)


def _are_finite(items: Iterable[Any]) -> bool:
    for item in items:  # noqa: SIM110 - as above
        if type(item) in _MAY_BE_INFINITE and not _is_finite(item):
            return False
    return True


def _refuse(
    value: Any, where: str, room: int, arrays: frozenset[object] = _LISTS, outside: tuple[int, ...] = ()
) -> None:
    """Raise for the first place, in reading order, that is not strict JSON. `outside`: ids of the containers around."""
    kind = _type_of(value)
    if kind is not dict and kind not in arrays:
        if not _is_strict(value, room):
            raise NotJson(where, _leaf_reason(value))
        return
    if id(value) in outside:
        raise NotJson(where, "contains itself")
    if not room:
        raise NotJson(f"{where[:QUOTE_LENGTH]}…", f"deeper than {len(outside)} levels")
    members = cast("Iterable[tuple[Any, Any]]", value.items() if kind is dict else enumerate(value))
    for key, item in members:
        if kind is dict and (type(key) is not str or not _is_encodable(key)):
            raise NotJson(where, _key_reason(key))
        _refuse(item, place(where, [key]), room - 1, arrays, (*outside, id(value)))


def _key_reason(key: object) -> str:
    if type(key) is str:
        return f"a key with a lone surrogate, {_key(key)}"
    return f"a key of type {type(key).__name__}, keys are text"


def _leaf_reason(value: object) -> str:
    if type(value) is float:
        return "NaN" if math.isnan(value) else "an infinite number"
    if type(value) is str:
        return "text with a lone surrogate"
    if type(value) is int:
        return f"an integer of more than {MAX_DIGITS} digits"
    return f"a value of type {type(value).__name__}"


def _key(key: str) -> str:
    """Write a key as paths do: bare where it can be, else as a JSON string."""
    return key if len(key) <= QUOTE_LENGTH and _BARE.fullmatch(key) else quote(key)


def _dumps_exactly(value: object, *, sort_keys: bool) -> bytes:
    """Write what orjson cannot: integers beyond 64 bits."""
    if not _is_strict(value, _DOCUMENT_DEPTH):
        _refuse(value, "value", _DOCUMENT_DEPTH, _LISTS_AND_TUPLES)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys).encode()


def _loads_carefully(data: bytes | str, where: str) -> JsonValue:
    """Read what orjson misreads or refuses, and say what is wrong with the rest."""
    try:
        text = data if isinstance(data, str) else data.decode()
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_read_object,
            parse_float=_read_float,
            parse_int=_read_integer,
            parse_constant=_read_constant,
        )
    except UnicodeDecodeError as exc:
        raise NotJson(where, f"no UTF-8 text at byte {exc.start}") from exc
    except RecursionError as exc:
        raise NotJson(where, "nested too deeply") from exc
    except json.JSONDecodeError as exc:
        raise NotJson(where, f"no JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})") from exc
    except ValueError as exc:
        raise NotJson(where, str(exc)) from exc
    if "\\u" in text and not _is_strict(value, _DOCUMENT_DEPTH):
        _refuse(value, where, _DOCUMENT_DEPTH)
    return value


def _read_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        names = Counter(name for name, _ in members)
        raise ValueError(f"the key {_key(names.most_common(1)[0][0])} twice in one object")
    return found


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:QUOTE_LENGTH]}, too large for a float")
    return value


def _read_integer(text: str) -> int:
    if len(text.removeprefix("-")) > MAX_DIGITS:
        raise ValueError(f"an integer of more than {MAX_DIGITS} digits")
    return int(text)


def _read_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _integral(value: JsonValue) -> JsonValue:
    """Give every number that is whole as an integer."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _integral(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integral(item) for item in value]
    return value


def _booleans_agree(left: Any, right: Any) -> bool:
    """Tell two values that Python takes for equal apart where it takes true for 1."""
    if isinstance(left, dict):
        members = cast("dict[str, Any]", left)
        return all(_booleans_agree(item, right[key]) for key, item in members.items())
    if isinstance(left, list):
        items = cast("list[Any]", left)
        return all(_booleans_agree(one, other) for one, other in zip(items, right, strict=True))
    return isinstance(left, bool) == isinstance(right, bool)


def _shorten_member(item: JsonValue, limit: int) -> JsonValue:
    """Shorten what can be long by itself, without encoding every number of a long array."""
    return shorten(item, limit) if isinstance(item, (str, list, dict)) else item


def _marker(value: JsonValue, encoded: bytes) -> JsonValue:
    """Stand in for a value that is too long; of a text the preview shows the text itself, else its JSON."""
    shown = value[:PREVIEW_LENGTH] if isinstance(value, str) else encoded[: 4 * PREVIEW_LENGTH].decode(errors="ignore")
    return {"$truncated": True, "bytes": len(encoded), "preview": shown[:PREVIEW_LENGTH]}
