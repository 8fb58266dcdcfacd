"""Schemas as questions about values, compiled once and cheap to ask."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, cast

import jsonschema_rs as js

from wf_core.errors import InvalidSchema
from wf_core.jsonvalue import JsonSchema, JsonValue, place
from wf_core.schemas.engine import build, build_inside, describe
from wf_core.schemas.explanation import Explainer, explainer
from wf_core.schemas.faults import refusal, schema_issues
from wf_core.schemas.pointers import pointer_to
from wf_core.schemas.references import REFERENCES


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

    __slots__ = ("_at", "_document", "_explainer", "_validator", "accepts")

    def __init__(self, validator: js.Validator, document: JsonSchema, at: str) -> None:
        """Let `validator` judge by the schema that stands at `at`, a JSON Pointer, of a document."""
        self._validator = validator
        self._document = document
        self._at = at
        self._explainer: Explainer | Literal["none needed"] | None = None
        self.accepts = validator.is_valid
        """`accepts(value) -> bool`: whether a value fits."""

    def problems(self, value: JsonValue, where: str, limit: int = 10) -> list[Problem]:
        """Say what keeps a value from fitting, the first `limit` problems; none when it fits."""
        if self.accepts(value):
            return []
        if self._explainer is None:
            self._explainer = explainer(self._document, self._at) or "none needed"
        if isinstance(self._explainer, Explainer):
            found = self._explainer.problems(value, limit)
        else:
            errors = islice(self._validator.iter_errors(value), limit)
            found = [(error.instance_path, describe(error)) for error in errors]
        return [Problem(place(where, path), message) for path, message in found]


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


def compile_schema(schema: JsonSchema, at: Sequence[str] = ()) -> Check | None:
    """Compile a schema, or the one that stands at `at` inside it, whose references are those of the whole document.

    None when it accepts everything, so that there is nothing to ask.

    Raises:
        InvalidSchema: saying what `schema_issues` says; its `details` hold every issue.
    """
    inner = _standing_at(schema, at)
    if inner is True or (isinstance(inner, dict) and inner.keys() <= _ANNOTATIONS):
        return None
    try:
        if _stands_alone(inner, schema):
            return Check(build(inner), inner, "")
        return Check(build_inside(schema, at), schema, pointer_to(at))
    except ValueError as exc:
        issues = schema_issues(schema) or [refusal(exc)]
        shown = "; ".join(f"{issue.pointer or '/'}: {issue.message}" for issue in issues[:_SHOWN_ISSUES])
        raise InvalidSchema(
            f"The schema cannot be used: {shown}", details={"issues": [asdict(issue) for issue in issues]}
        ) from exc


def compile_element(schema: JsonSchema, at: Sequence[str] = ()) -> ElementCheck | None:
    """Compile an array schema, as `compile_schema` does, for appending. None where one element alone does not tell.

    It does when the schema consists of `"type": "array"`, `items`, `minItems`, `maxItems` and annotations.

    Raises:
        InvalidSchema: the schema of the items cannot be used.
    """
    inner = _standing_at(schema, at)
    if not isinstance(inner, dict) or not inner.keys() <= _ELEMENT_KEYWORDS or inner.get("type", "array") != "array":
        return None
    if isinstance(inner.get("items"), list):  # before draft 2020-12: one schema for each position
        return None
    items = compile_schema(schema, (*at, "items")) if "items" in inner else None
    return ElementCheck(items, inner.get("minItems", 0), inner.get("maxItems", float("inf")))


_SHOWN_ISSUES = 3

_ANNOTATIONS = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "format", "reducer", "title"}
    | {"readOnly", "writeOnly"}
)
_ELEMENT_KEYWORDS = _ANNOTATIONS | {"type", "items", "minItems", "maxItems"}


def _standing_at(schema: JsonSchema, at: Sequence[str]) -> JsonSchema:
    for key in at:
        schema = cast("dict[str, Any]", schema)[key]
    return schema


def _stands_alone(inner: object, document: JsonSchema) -> bool:
    """Tell whether a schema means the same outside its document: no dialect of its own there, and no references."""
    return inner is document or (isinstance(document, dict) and "$schema" not in document and not _refers(inner))


def _refers(value: object) -> bool:
    """Tell whether a reference may be anywhere inside."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return any(keyword in members for keyword in REFERENCES) or any(_refers(inner) for inner in members.values())
    return isinstance(value, list) and any(_refers(inner) for inner in cast("list[Any]", value))
