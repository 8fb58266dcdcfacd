"""What a capability promises, as far as the kernel needs to know it."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, cast

from wf_core.jsonvalue import JsonSchema

ERROR_OUTCOME = "error"
"""The outcome that a plan may leave unrouted: such a result then fails the run with the capability's message."""

CAPABILITY_ERROR = "capability_error"
"""The code of such a failure, and of one that a capability raises and does not name otherwise."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a capability's effects. The default is the cautious answer to each question."""

    read_only: bool = False
    idempotent: bool = False
    destructive: bool = True

    @property
    def repeatable(self) -> bool:
        """Whether a call may be repeated without asking anyone."""
        return self.read_only or self.idempotent


@dataclass(frozen=True, slots=True)
class Contract:
    """The schemas, outcomes and hints of one capability."""

    input_schema: JsonSchema = field(default_factory=dict[str, Any])
    output_schema: JsonSchema = field(default_factory=dict[str, Any])
    outcomes: tuple[str, ...] = ("ok",)
    hints: Hints = Hints()
    deferred: bool = False
    """The kernel itself waits and no source is called: `wf.std.sleep`."""


DESCRIBING = frozenset({"title", "description", "examples", "$comment"})
"""Keywords that only describe."""

_NAMES = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired", "dependencies"}
)
"""Keywords whose keys are names of the author, not keywords."""

_DATA = frozenset({"const", "enum", "default"})
"""Keywords whose values are data, not schemas."""


def essence(contract: Contract) -> dict[str, Any]:
    """Give what a contract promises as one JSON value, without what only describes. Hints are no promise.

    A contract has changed where this has.
    """
    return {
        "input": essential(contract.input_schema),
        "output": essential(contract.output_schema),
        "outcomes": list(contract.outcomes),
    }


def essential(schema: Any, leave_out: AbstractSet[str] = DESCRIBING) -> Any:
    """Copy a schema without some of its keywords, at every depth. A property of such a name stays."""
    match schema:
        case list():
            return [essential(item, leave_out) for item in cast("list[Any]", schema)]
        case dict():
            keywords = cast("dict[str, Any]", schema)
            return {key: _value(key, value, leave_out) for key, value in keywords.items() if key not in leave_out}
        case _:
            return schema


def _value(keyword: str, value: Any, leave_out: AbstractSet[str]) -> Any:
    if keyword in _DATA:
        return value
    if keyword in _NAMES and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return {name: essential(schema, leave_out) for name, schema in named.items()}
    return essential(value, leave_out)
