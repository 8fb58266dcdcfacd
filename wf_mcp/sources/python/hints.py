"""Type hints as pydantic understands them, and JSON Schemas from them."""

import types
import typing
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Annotated, Any, Union, cast

import typing_extensions
from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema


class UnusableFunction(Exception):
    """A decorated function whose contract cannot be read; the text says why."""


def read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Give the hints of a function by parameter, and of what it returns as `return`, written as text or not.

    Raises:
        UnusableFunction: a hint names what does not exist when the module runs.
    """
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as exc:
        raise UnusableFunction(f"its type hints name {exc.name!r}, which is not imported at run time") from exc
    except Exception as exc:  # a hint in text form is code of the user's
        raise UnusableFunction(f"its type hints cannot be read: {type(exc).__name__}: {exc}") from exc


def adapter_for(hint: Any) -> TypeAdapter[Any]:
    """Give pydantic's adapter of a hint.

    Raises:
        UnusableFunction: the hint says nothing about data.
    """
    try:
        return TypeAdapter(_with_modern_typed_dicts(hint, {}))
    except (PydanticSchemaGenerationError, PydanticUserError, NameError, TypeError) as exc:
        raise UnusableFunction(f"the type {_show(hint)} has no form as JSON: {_first_line(exc)}") from exc


def json_schemas(
    adapters: dict[str, TypeAdapter[Any]], mode: JsonSchemaMode
) -> tuple[dict[str, JsonSchemaValue], dict[str, Any]]:
    """Give the JSON Schema of each adapter by its key, and the definitions that they share.

    Raises:
        UnusableFunction: a type has no JSON Schema.
    """
    try:
        schemas, shared = TypeAdapter.json_schemas(
            [(key, mode, adapter) for key, adapter in adapters.items()], schema_generator=_ContractSchema
        )
    except PydanticInvalidForJsonSchema as exc:
        raise UnusableFunction(f"a type has no form as JSON: {_first_line(exc)}") from exc
    return {key: schema for (key, _), schema in schemas.items()}, shared.get("$defs", {})


def members(hint: Any) -> tuple[Any, ...]:
    """Give the members of a union; of anything else, the hint itself. `Annotated` is looked through."""
    if typing.get_origin(hint) is Annotated:
        return members(typing.get_args(hint)[0])
    if typing.get_origin(hint) in {Union, types.UnionType}:
        return typing.get_args(hint)
    return (hint,)


def union_of(hints: Iterable[Any]) -> Any:
    """Give the union of some hints, at least one."""
    return reduce(lambda union, hint: union | hint, hints)


class _ContractSchema(GenerateJsonSchema):
    """JSON Schema as contracts want it: no titles made up from names, and no pattern that needs look-ahead."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # as pydantic calls it
        return False

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:  # noqa: ARG002  # as pydantic calls it
        if self.mode == "serialization":
            return {"type": "string"}
        return {"anyOf": [{"type": "number"}, {"type": "string"}]}


def _with_modern_typed_dicts(hint: Any, seen: dict[Any, Any]) -> Any:
    """Replace every `typing.TypedDict` in a hint by its twin from typing_extensions, the only one pydantic takes."""
    if typing_extensions.is_typeddict(hint):
        return _modern_typed_dict(hint, seen)
    origin: Any = typing.get_origin(hint)
    arguments = list[Any](typing.get_args(hint))
    if origin is None or origin is typing.Literal:
        return hint
    if origin is Annotated:
        annotated: Any = Annotated
        return annotated[(_with_modern_typed_dicts(arguments[0], seen), *arguments[1:])]
    replaced = [_with_modern_typed_dicts(argument, seen) for argument in arguments]
    if replaced == arguments:
        return hint
    if origin in {Union, types.UnionType}:
        return union_of(replaced)
    return origin[tuple(replaced) if len(replaced) > 1 else replaced[0]]


def _modern_typed_dict(hint: Any, seen: dict[Any, Any]) -> Any:
    if hint in seen:
        raise UnusableFunction(f"{_show(hint)} contains itself; take TypedDict from typing_extensions for it")
    if type(hint).__module__ != "typing":
        return hint
    fields = dict[str, Any]()
    for name, field in typing.get_type_hints(hint, include_extras=True).items():
        modern = _with_modern_typed_dicts(field, {**seen, hint: None})
        told = typing.get_origin(field) in {typing.Required, typing.NotRequired}
        key: Any = typing.Required if name in hint.__required_keys__ else typing.NotRequired
        fields[name] = modern if told else key[modern]
    return cast("Any", typing_extensions.TypedDict)(hint.__name__, fields)


def _show(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
