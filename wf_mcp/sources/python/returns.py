"""What a decorated function returns: the output schema, and strict JSON from a returned value.

What the type hint declares is converted by it. Where it says nothing, as inside a `dict`, the value must be JSON
already: pydantic would turn a date there into text without a word.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, SchemaSerializer, SchemaValidator, core_schema

from wf_core.calls.capability import Outcome
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonSchema, check, place
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.python.hints import adapter_for, json_schemas, members, union_of

_NO_SCHEMA = dict[str, Any]()
_SAYS_NOTHING = (Any, object)
_WRAPPED = "result"
"""The key of an output that is no object by itself."""


@dataclass(frozen=True, slots=True)
class Returns:
    """What one function returns."""

    schema: JsonSchema
    _declared: "_Declared | None"
    """None when the hint says nothing."""
    _is_object: bool

    def output(self, value: Any) -> Any:
        """Give the output for a returned value, still to be checked for what is no JSON.

        Raises:
            CallFailed: `output_invalid`: the value does not fit the hint.
        """
        if self._declared is None:
            return undeclared_output(value)
        where = "output" if self._is_object else f"output.{_WRAPPED}"
        dumped = self._declared.dump(value, where)
        return dumped if self._is_object else {_WRAPPED: dumped}


def undeclared_output(value: Any) -> Any:
    """Give the output for a value that no hint describes: an object as it is, anything else as `{"result": value}`."""
    return cast("Any", value) if isinstance(value, dict) else {_WRAPPED: value}


def read_returns(hint: Any) -> Returns:
    """Read what a function with this return hint answers. `Outcome` in it is no part of the output.

    Raises:
        UnusableFunction: the hint has no form as JSON.
    """
    data = tuple(member for member in members(hint) if member is not Outcome)
    if not data or any(member in _SAYS_NOTHING for member in data):
        return Returns({}, None, _is_object=False)
    adapter = adapter_for(hint if len(data) == len(members(hint)) else union_of(data))
    schemas, shared = json_schemas({_WRAPPED: adapter}, "serialization")
    schema, definitions = schemas[_WRAPPED], {"$defs": shared} if shared else {}
    declared = _Declared.of(adapter.core_schema)
    if _is_object(schema, shared):
        return Returns({**schema, **definitions}, declared, _is_object=True)
    wrapped = {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED], **definitions}
    return Returns(wrapped, declared, _is_object=False)


def _is_object(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> bool:
    if "$ref" in schema:
        return _is_object(shared[schema["$ref"].removeprefix("#/$defs/")], shared)
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return all(_is_object(branch, shared) for branch in branches)
    return schema.get("type") == "object"


@dataclass(frozen=True, slots=True)
class _Declared:
    """Checks a value against a hint and writes it as JSON."""

    _validator: SchemaValidator
    _serializer: SchemaSerializer

    @classmethod
    def of(cls, schema: core_schema.CoreSchema) -> "_Declared":
        strict = cast("core_schema.CoreSchema", _strict(schema))
        # Without `_use_prebuilt`, models would be checked and written by what their class has built already.
        return cls(
            SchemaValidator(strict, _use_prebuilt=False),  # pyright: ignore[reportCallIssue]
            SchemaSerializer(strict, _use_prebuilt=False),  # pyright: ignore[reportCallIssue]
        )

    def dump(self, value: Any, where: str) -> Any:
        faults: list[NotJson] = []
        try:
            valid = self._validator.validate_python(value, strict=True)
            dumped = self._serializer.to_python(valid, mode="json", by_alias=True, warnings="error", context=faults)
        except ValidationError as exc:
            error = exc.errors(include_url=False, include_input=False, include_context=False)[0]
            raise _refusal(f"{place(where, error['loc'])}: {error['msg']}") from None
        except PydanticSerializationError as exc:
            raise _refusal(f"{where}: {str(exc).partition(chr(10))[0]}") from None
        for fault in faults:
            mark, _, inside = fault.where.partition("|")
            if (spot := _place_of(f"{mark}|", dumped, where)) is not None:
                raise _refusal(f"{spot}{inside}: {fault.reason}")
        return dumped


_MARK = f"not JSON {secrets.token_hex(16)} "
"""Stands in the written output for what is no JSON, until its place is known."""


def _strict(schema: Any) -> Any:
    """Rewrite a core schema so that nothing is dropped, and undeclared parts are written only if they are JSON."""
    match schema:
        case list():
            return [_strict(item) for item in cast("list[Any]", schema)]
        case dict():
            strict = {key: _strict(item) for key, item in cast("dict[str, Any]", schema).items()}
        case _:
            return schema
    match strict.get("type"):
        case "any":
            strict.setdefault("serialization", _WRITE_VALUE)
        case "dict" if strict.get("keys_schema", _NO_SCHEMA).get("type") == "any":
            strict["keys_schema"] = {"type": "any", "serialization": _WRITE_KEY}
        case "typed-dict" | "model-fields" if strict.get("extra_behavior", "ignore") == "ignore":
            strict["extra_behavior"] = "forbid"
        case _:
            pass
    return strict


def _write(value: Any, info: Any, *, is_key: bool) -> Any:
    faults: list[NotJson] = info.context
    mark = f"{_MARK}{len(faults)}|"
    try:
        check({value: None} if is_key else value, mark)
    except NotJson as fault:
        faults.append(fault)
        return mark
    return value


def _writer(*, is_key: bool) -> core_schema.SerSchema:
    return core_schema.plain_serializer_function_ser_schema(partial(_write, is_key=is_key), info_arg=True)


_WRITE_VALUE, _WRITE_KEY = _writer(is_key=False), _writer(is_key=True)


def _place_of(mark: str, written: Any, where: str) -> str | None:
    """Say where in the written output the mark stands. None when what it stands for was not written after all."""
    if written == mark:
        return where
    match written:
        case dict():
            members = cast("dict[str, Any]", written)
            if mark in members:
                return where
            items = list[tuple[str | int, Any]](members.items())
        case list():
            items = list[tuple[str | int, Any]](enumerate(cast("list[Any]", written)))
        case _:
            return None
    found = (_place_of(mark, item, place(where, [step])) for step, item in items)
    return next((spot for spot in found if spot is not None), None)


def _refusal(reason: str) -> CallFailed:
    return CallFailed("output_invalid", f"The result does not fit: {reason}.", executed=True)
