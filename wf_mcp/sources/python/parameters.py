"""What a decorated function takes: the input schema, and arguments from an input."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wf_core.calls.capability import CallContext
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonSchema, JsonValue, check, clone, place
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.python.hints import UnusableFunction, adapter_for, json_schemas, members

_BY_POSITION = inspect.Parameter.POSITIONAL_ONLY
_COLLECTING = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one function."""

    schema: JsonSchema
    _adapters: Mapping[str, TypeAdapter[Any]]
    _by_position: tuple[str, ...]
    _contexts: tuple[str, ...]

    def arguments(self, input: Mapping[str, JsonValue], context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """Give the positional and named arguments for an input: copies, converted as the hints say.

        Raises:
            CallFailed: `input_invalid`; the function was not called.
        """
        if unknown := [key for key in input if key not in self._adapters]:
            raise _refusal(f"there is no parameter {unknown[0]!r}")
        named: dict[str, Any] = dict.fromkeys(self._contexts, context)
        for key, value in input.items():
            named[key] = self._convert(key, clone(value))
        positional = [named.pop(name) for name in self._by_position if name in named]
        return positional, named

    def _convert(self, key: str, value: JsonValue) -> Any:
        try:
            return self._adapters[key].validate_python(value)
        except ValidationError as exc:
            error = exc.errors(include_url=False, include_input=False)[0]
            raise _refusal(f"{place(key, error['loc'])}: {error['msg']}") from None


def read_parameters(function: Callable[..., Any], hints: Mapping[str, Any]) -> Parameters:
    """Read the parameters of `function`, whose hints are `hints`. Those of type CallContext are no part of the input.

    Raises:
        UnusableFunction: it takes `*args` or `**kwargs`, or something that has no form as JSON.
    """
    adapters: dict[str, TypeAdapter[Any]] = {}
    defaults: dict[str, Any] = {}
    by_position: list[str] = []
    contexts: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if stars := _COLLECTING.get(parameter.kind):
            raise UnusableFunction(f"it takes {stars}{name}; name every parameter, so that there is a contract")
        if parameter.kind is _BY_POSITION:
            by_position.append(name)
        hint = hints.get(name, Any)
        if CallContext in members(hint):
            contexts.append(name)
            continue
        adapters[name] = adapter_for(hint)
        if parameter.default is not parameter.empty:
            defaults[name] = parameter.default
    schema = _object_schema(adapters, defaults)
    return Parameters(schema, adapters, tuple(by_position), tuple(contexts))


def _object_schema(adapters: dict[str, TypeAdapter[Any]], defaults: dict[str, Any]) -> dict[str, Any]:
    properties, shared = json_schemas(adapters, "validation")
    for name, default in defaults.items():
        if _is_json(default):
            properties[name] = {**properties[name], "default": default}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [name for name in adapters if name not in defaults]:
        schema["required"] = required
    return {**schema, "$defs": shared} if shared else schema


def _is_json(value: object) -> bool:
    try:
        check(value, "default")
    except NotJson:
        return False
    return True


def _refusal(reason: str) -> CallFailed:
    return CallFailed("input_invalid", f"The input does not fit: {reason}.", executed=False)
