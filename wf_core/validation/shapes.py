"""Reads pieces of a plan into records, and says in the plan's own words what does not fit.

Pydantic finds the faults; here each gets the issue code, the JSON pointer and the hint of the plan language.
A piece with a fault is read once more without it, so that the rules can look at the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wf_core.ids import close_matches
from wf_core.jsonvalue import JsonValue, clone
from wf_core.plan.base import PlanRecord
from wf_core.plan.bindings import (
    EXPRESSION_KINDS,
    ArrayExpression,
    ObjectExpression,
    OptionalSource,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.plan.conditions import OPERATORS, Compare, Exists, Logic, Not
from wf_core.plan.refs import CapabilityRef, WorkflowRef
from wf_core.plan.steps import CollectErrors, RetryPolicy
from wf_core.plan.workflow import Limits, WorkflowPlan
from wf_core.schemas.engine import shown
from wf_core.validation.report import Findings, Place, Segment

Record = TypeVar("Record", bound=PlanRecord)

_INNER_RECORDS: Mapping[str, type[PlanRecord]] = {
    "<path>": PathExpression,
    "<value>": ValueExpression,
    "<object>": ObjectExpression,
    "<array>": ArrayExpression,
    "<template>": TemplateExpression,
    "<exists>": Exists,
    "<not>": Not,
    "<logic>": Logic,
    "<compare>": Compare,
    "<source>": OptionalSource,
    "<collect>": CollectErrors,
    "use": CapabilityRef,
    "workflow": WorkflowRef,
    "retry": RetryPolicy,
    "limits": Limits,
}
"""The record that stands at a tag or in a field of the plan's records."""

_TAGS = frozenset({key for key in _INNER_RECORDS if key.startswith("<")} | {"<text>", "<schema>", "<bool>", "<word>"})

_ENTRY_MAPS = ("input", "request", "initial_state", "output", "error_output", "resume", "outcome_schemas")
"""Maps of a record whose entries are read each by itself."""

_EXPECTED: Mapping[str, str] = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "an object",
    "list_type": "an array",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def read_record(
    record: type[Record], document: Mapping[str, Any], found: Findings, *, stand_ins: Mapping[str, JsonValue]
) -> tuple[Record | None, frozenset[str]]:
    """Read one record, reporting every fault of its shape.

    Gives what is left after unknown keys and unreadable entries of maps are taken out and unreadable fields are
    replaced by their stand-in, None where that is no record; and the names of the replaced fields.
    """
    try:
        return record.model_validate(document), frozenset()
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in faults:
        _report(record, fault, document, found)
    rest, replaced = _without_faults(record, document, faults, stand_ins)
    try:
        return record.model_validate(rest), replaced
    except ValidationError:
        return None, replaced


def described(value: object) -> str:
    """Name a value in a message: containers by their kind."""
    if isinstance(value, dict | list):
        return "an array" if isinstance(value, list) else "an object"
    return shown(value)


def _report(record: type[PlanRecord], fault: ErrorDetails, document: Mapping[str, Any], found: Findings) -> None:
    location = fault["loc"]
    here = found.at(*_place(location, document))
    value: object = fault["input"]
    kind = fault["type"]
    if kind == "extra_forbidden":
        _report_unknown_key(str(location[-1]), _known_keys(record, location), here)
    elif kind == "missing":
        here.error("missing_key", f"`{location[-1]}` is missing.")
    elif kind == "no_expression":
        _report_no_expression(value, here)
    elif kind == "no_condition":
        _report_no_condition(value, here)
    elif kind in _EXPECTED:
        here.error("invalid_type", f"Expected {_EXPECTED[kind]}, found {described(value)}.")
    else:
        message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
        here.error("invalid_type", f"{shown(value)}: {message}.")


def _report_unknown_key(key: str, known: Sequence[str], here: Findings) -> None:
    if key in EXPRESSION_KINDS and set(known) & set(EXPRESSION_KINDS):
        here.error(
            "unknown_key", f"An expression has exactly one of {_either(EXPRESSION_KINDS)}; `{key}` is one too many."
        )
    else:
        here.unknown("unknown_key", f"`{key}` is no key of this object.", key, known)


def _report_no_expression(value: object, here: Findings) -> None:
    text = shown(value)
    if isinstance(value, dict):
        for key in cast("dict[str, Any]", value):
            close = close_matches(key, EXPRESSION_KINDS, 1)
            if close:
                here.at(key).error("unknown_key", f"`{key}` is no key of an expression.", f"Did you mean `{close[0]}`?")
                return
        hint = (
            f'Write {{"object": {{key: expression}}}} to put it together, or {{"value": {text}}} for it as it stands.'
        )
    elif isinstance(value, list):
        hint = f'Write {{"array": [expression]}} to put it together, or {{"value": {text}}} for it as it stands.'
    else:
        path = text if isinstance(value, str) else '"state.field"'
        hint = f'Write {{"path": {path}}} to read what is there, or {{"value": {text}}} for the literal.'
    here.error("invalid_type", f"{text} stands where an expression belongs.", hint)


def _report_no_condition(value: object, here: Findings) -> None:
    if not isinstance(value, dict):
        here.error(
            "invalid_type",
            f"{shown(value)} stands where a condition belongs.",
            'Write {"op": "eq", "left": {"path": "state.field"}, "right": {"value": 1}} or another operator.',
        )
        return
    condition = cast("dict[str, Any]", value)
    if "op" not in condition:
        here.error("missing_key", "`op` is missing.", f"The operators are {_either(OPERATORS)}.")
    else:
        op = condition["op"]
        here.at("op").unknown("invalid_type", f"{shown(op)} is no operator.", str(op), OPERATORS)


def _known_keys(record: type[PlanRecord], location: tuple[Segment, ...]) -> list[str]:
    """List the keys of the record that the last segment of `location` was found in."""
    inner = _INNER_RECORDS.get(str(location[-2]), record) if len(location) > 1 else record
    return [field.alias or name for name, field in inner.model_fields.items()]


def _place(location: tuple[Segment, ...], document: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Drop from pydantic's location what is no key of the document: tags, and a key that is missing."""
    place: list[Segment] = []
    current: Any = document
    for segment in location:
        if isinstance(current, dict) and segment in current:
            current = cast("dict[Segment, Any]", current)[segment]
        elif isinstance(current, list) and isinstance(segment, int):
            current = cast("list[Any]", current)[segment]
        elif segment in _TAGS:
            continue
        else:
            break
        place.append(segment)
    return tuple(place)


def _without_faults(
    record: type[PlanRecord],
    document: Mapping[str, Any],
    faults: Sequence[ErrorDetails],
    stand_ins: Mapping[str, JsonValue],
) -> tuple[dict[str, Any], frozenset[str]]:
    """Copy the document as `read_record` says."""
    # Unknown keys first: what stands around them may be replaced as a whole afterwards.
    faults = sorted(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    copy = {key: clone(value) for key, value in document.items()}
    replaced: set[str] = set()
    for fault in faults:
        place, field = _place(fault["loc"], document), str(fault["loc"][0])
        if fault["type"] == "extra_forbidden":
            _remove(copy, place)
        elif len(place) > 1 and field in _ENTRY_MAPS:
            entries = cast("dict[str, JsonValue]", copy[field])
            entries[str(place[1])] = _neutral(record, field)
        elif field in stand_ins:
            copy[field] = stand_ins[field]
            replaced.add(field)
    return copy, frozenset(replaced)


def _neutral(record: type[PlanRecord], entry_map: str) -> JsonValue:
    """Give what stands in for an unreadable entry, so that its target still counts as filled."""
    if entry_map == "outcome_schemas":
        return {}
    if entry_map in ("input", "request", "initial_state") or record is WorkflowPlan:
        return {"value": None}
    return "."


def _remove(document: dict[str, Any], place: Place) -> None:
    parent: Any = document
    for segment in place[:-1]:
        parent = parent[segment]
    parent.pop(place[-1], None)


def _either(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
