"""Schemas as questions about values, compiled once and cheap to ask."""

from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, cast

import jsonschema_rs as js

from wf_core.errors import InvalidSchema
from wf_core.jsonvalue import JsonValue, place
from wf_core.schemas.engine import JsonSchema, build, describe
from wf_core.schemas.faults import refusal, schema_issues


@dataclass(frozen=True, slots=True)
class Problem:
    """A place at which a value does not fit a schema."""

    where: str
    """As in `state.items[3].when`."""
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Check:
    """A compiled schema. Values are strict JSON: they went through `jsonvalue.check` when they entered."""

    __slots__ = ("_validator", "accepts")

    def __init__(self, validator: js.Validator) -> None:
        self._validator = validator
        self.accepts = validator.is_valid
        """`accepts(value) -> bool`: whether a value fits."""

    def problems(self, value: JsonValue, where: str, limit: int = 10) -> list[Problem]:
        """Say what keeps a value from fitting, the first `limit` problems; none when it fits."""
        found = islice(self._validator.iter_errors(value), limit)
        return [Problem(place(where, error.instance_path), describe(error)) for error in found]


class ElementCheck:
    """What an array schema asks of one more element, at a cost that does not grow with the array."""

    __slots__ = ("_fewest", "_items", "_most")

    def __init__(self, items: Check | None, fewest: float, most: float) -> None:
        self._items = items
        self._fewest = fewest
        self._most = most

    def accepts(self, element: JsonValue, length_after: int) -> bool:
        """Tell whether a valid list is valid still, now that it has `length_after` elements, `element` the last."""
        if not self._fewest <= length_after <= self._most:
            return False
        return self._items is None or self._items.accepts(element)


def compile_schema(schema: JsonSchema) -> Check | None:
    """Compile a schema; None when it accepts everything, so that there is nothing to ask.

    Raises:
        InvalidSchema: saying what `schema_issues` says; its `details` hold every issue.
    """
    if schema is True or (isinstance(schema, dict) and schema.keys() <= _ANNOTATIONS):
        return None
    try:
        return Check(build(schema))
    except ValueError as exc:
        issues = schema_issues(schema) or [refusal(exc)]
        shown = "; ".join(f"{issue.pointer or '/'}: {issue.message}" for issue in issues[:_SHOWN_ISSUES])
        raise InvalidSchema(
            f"The schema cannot be used: {shown}", details={"issues": [asdict(issue) for issue in issues]}
        ) from exc


def compile_element(schema: JsonSchema) -> ElementCheck | None:
    """Compile an array schema for appending. None where judging one element alone would not do.

    It does when the schema consists of `"type": "array"`, `items`, `minItems`, `maxItems` and annotations, and refers
    to nothing.

    Raises:
        InvalidSchema: the schema of the items cannot be used.
    """
    if not isinstance(schema, dict) or not schema.keys() <= _ELEMENT_KEYWORDS or _refers(schema):
        return None
    if schema.get("type", "array") != "array":
        return None
    return ElementCheck(
        compile_schema(schema.get("items", True)), schema.get("minItems", 0), schema.get("maxItems", float("inf"))
    )


_SHOWN_ISSUES = 3

_ANNOTATIONS = frozenset(
    {
        "$comment",
        "default",
        "deprecated",
        "description",
        "examples",
        "format",
        "readOnly",
        "reducer",
        "title",
        "writeOnly",
    }
)
_ELEMENT_KEYWORDS = _ANNOTATIONS | {"type", "items", "minItems", "maxItems"}
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def _refers(value: object) -> bool:
    """Tell whether a reference may be anywhere inside."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return not _REFERENCES.isdisjoint(members) or any(_refers(inner) for inner in members.values())
    return isinstance(value, list) and any(_refers(inner) for inner in cast("list[Any]", value))
