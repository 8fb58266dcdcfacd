"""A capability as a source offers it, and the digest by which a changed contract is noticed."""

from dataclasses import dataclass
from typing import Any, cast

from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that a source offers to be called."""

    source: str
    name: str
    title: str
    description: str
    contract: Contract
    digest: str
    """`contract_digest` of the contract."""

    @property
    def full_name(self) -> str:
        return f"{self.source}.{self.name}"


_DESCRIBING = frozenset({"title", "description", "examples", "$comment"})
_NAMES = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired", "dependencies"}
)
"""Keywords whose keys are names of the author, not keywords."""
_DATA = frozenset({"const", "enum", "default"})
"""Keywords whose values are data, not schemas."""


def contract_digest(contract: Contract) -> str:
    """Give the digest over a contract's schemas and outcomes.

    What only describes (title, description, examples, $comment) is left out of schemas at every depth, but a property
    of such a name counts. Hints do not.
    """
    return json_digest(
        {
            "input": _essential(contract.input_schema),
            "output": _essential(contract.output_schema),
            "outcomes": list(contract.outcomes),
        }
    )


def _essential(schema: Any) -> Any:
    """Leave out what only describes."""
    match schema:
        case list():
            return [_essential(item) for item in cast("list[Any]", schema)]
        case dict():
            keywords = cast("dict[str, Any]", schema)
            return {key: _value(key, value) for key, value in keywords.items() if key not in _DESCRIBING}
        case _:
            return schema


def _value(keyword: str, value: Any) -> Any:
    if keyword in _DATA:
        return value
    if keyword in _NAMES and isinstance(value, dict):
        return {name: _essential(schema) for name, schema in cast("dict[str, Any]", value).items()}
    return _essential(value)
