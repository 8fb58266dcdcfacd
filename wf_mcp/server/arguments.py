"""Strict arguments: what a tool accepts is what its input schema says, and what is wrong is said all at once."""

import math
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from wf_core import jsonvalue
from wf_core.errors import NotJson
from wf_core.ids import close_matches
from wf_mcp.errors import InvalidArgument

M = TypeVar("M", bound=BaseModel)


def _whole(value: Any) -> Any:
    """Take 5.0 for 5: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _object(value: Any) -> Any:
    """Take the text of an object for the object: some clients cannot send a nested object in any other way."""
    if not isinstance(value, str):
        return value
    try:
        parsed = jsonvalue.loads(value, "argument")
    except NotJson:
        return value
    return parsed if isinstance(parsed, dict) else value


WholeNumber = Annotated[int, BeforeValidator(_whole)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(_object)]

Cursor = Annotated[str | None, Field(description="next_cursor of the page before.")]
Limit = Annotated[WholeNumber, Field(ge=1, le=100)]

_TYPE_NAMES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "list_type": "a list",
}


def strict(model: type[M]) -> type[M]:
    """Derive the model that converts nothing and refuses unknown names."""
    config = ConfigDict(strict=True, extra="forbid", title=model.__name__)
    return cast("type[M]", type(model.__name__, (model,), {"model_config": config, "__module__": __name__}))


def check(model: type[BaseModel], arguments: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments as the tool's function takes them, defaults filled in.

    Raises:
        InvalidArgument: names every argument that is missing, unknown, of the wrong type or out of range.
    """
    try:
        given = {name: value for name, value in arguments.items() if value is not None or not _left_out(model, name)}
        parsed = model.model_validate(given)
    except ValidationError as error:
        problems = [_problem(model, detail) for detail in error.errors(include_url=False)]
        raise InvalidArgument(
            " ".join(problem["message"] for problem in problems),
            hint=_signature(model),
            details={"arguments": problems},
        ) from error
    return {name: getattr(parsed, name) for name in model.model_fields}


def _left_out(model: type[BaseModel], name: str) -> bool:
    """Tell whether null for an argument means that it was left out: many models send null for what they do not say.

    Where any value may be sent, null is one.
    """
    field = model.model_fields.get(name)
    return field is not None and not field.is_required() and field.annotation is not Any


def _problem(model: type[BaseModel], detail: ErrorDetails) -> dict[str, Any]:
    name = str(detail["loc"][0]) if detail["loc"] else ""
    return {"name": name, "message": f"`{name}` {_reason(model, name, detail)}."}


def _reason(model: type[BaseModel], name: str, detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        nearest = close_matches(name, list(model.model_fields), 1)
        return "is no argument of this tool" + (f" (did you mean `{nearest[0]}`?)" if nearest else "")
    if kind in _TYPE_NAMES:
        place = "".join(f"[{part!r}]" for part in detail["loc"][1:])
        return (f"at {place} " if place else "") + f"must be {_TYPE_NAMES[kind]}, not {_name_of(detail['input'])}"
    if isinstance(detail["input"], float) and not math.isfinite(detail["input"]):
        return "must be a number, which NaN and infinities are not"
    if kind == "literal_error":
        return f"must be one of {context['expected']}"
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = "least" if "ge" in context else "most"
        return f"must be at {bound} {context.get('ge', context.get('le')):g}"
    words = detail["msg"].removeprefix("Value error, ")
    return words[:1].lower() + words[1:].removesuffix(".")


def _name_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def _signature(model: type[BaseModel]) -> str:
    required = [f"`{name}`" for name, field in model.model_fields.items() if field.is_required()]
    optional = [f"`{name}`" for name, field in model.model_fields.items() if not field.is_required()]
    parts = [f"It needs {', '.join(required)}." if required else "It needs no arguments."]
    if optional:
        parts.append(f"It may have {', '.join(optional)}.")
    return " ".join(parts)
