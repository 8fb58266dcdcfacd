"""The schemas that tools publish, as small as they can be: every conversation of a host pays for them."""

from functools import cache
from types import UnionType
from typing import Any, cast, get_args

from pydantic import BaseModel

_LEFT_OUT = ("title", "default", "description", "required")
"""Words, and what every answer has anyway."""


def of_arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Publish the schema of a tool's arguments. Descriptions and defaults stay; "or null" goes."""
    properties = {name: _argument(field) for name, field in schema.get("properties", {}).items()}
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


@cache
def of_answer(model: type[BaseModel] | UnionType, *, whole: bool) -> dict[str, Any]:
    """Publish the types of an answer, without the words about it. Several tools may share it: it is not to be changed.

    Unless `whole`, records, lists and words are just objects, arrays and text: one tool that shows them in full is
    enough. Of an answer that is one of several records, what they have in common is published.
    """
    if isinstance(model, UnionType):
        first, *others = (of_answer(record, whole=whole)["properties"] for record in get_args(model))
        common = {name: schema for name, schema in first.items() if all(name in other for other in others)}
        return {
            "type": "object",
            "properties": {
                name: schema if all(other[name] == schema for other in others) else {}
                for name, schema in common.items()
            },
        }
    bare = cast("dict[str, Any]", _bare(model.model_json_schema(), whole=whole))
    if not whole:
        bare.pop("$defs", None)
    return bare


def _argument(field: dict[str, Any]) -> dict[str, Any]:
    """Say only what to send. Null is taken for an optional argument, but nobody needs to send it."""
    kept = {key: value for key, value in field.items() if key != "title" and (key, value) != ("default", None)}
    if kept.get("additionalProperties") is True:
        del kept["additionalProperties"]
    branches = [branch for branch in kept.pop("anyOf", []) if branch != {"type": "null"}]
    return {**_argument(branches[0]), **kept} if branches else kept


def _bare(schema: Any, *, whole: bool) -> Any:
    """Drop annotations at every schema position; a property that is named like one stays."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema and not whole:
        return {"type": "object"}
    bare: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], schema).items():
        if key in ("properties", "$defs"):
            bare[key] = {name: _bare(item, whole=whole) for name, item in value.items()}
        elif key == "anyOf":
            bare[key] = [_bare(item, whole=whole) for item in value]
        elif not whole and key in ("enum", "items"):
            continue
        elif key not in _LEFT_OUT and (key, value) != ("additionalProperties", True):
            bare[key] = _bare(value, whole=whole)
    return _joined(bare)


def _joined(schema: dict[str, Any]) -> dict[str, Any]:
    """Write "text or null" as one list of types."""
    branches: list[dict[str, Any]] = schema.get("anyOf", [])
    if not branches or any(set(branch) != {"type"} for branch in branches):
        return schema
    return {"type": [branch["type"] for branch in branches]}
