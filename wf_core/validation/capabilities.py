"""Checks a node against the contract of the capability that it calls, where that is known."""

from collections.abc import Iterable, Mapping

from wf_core.calls.contract import Contract
from wf_core.jsonvalue import JsonSchema
from wf_core.paths import Segments
from wf_core.plan import CapabilityRef
from wf_core.validation.report import Findings
from wf_core.validation.schemas import check_exists, required_of, schemas_at

Sources = Mapping[str, Mapping[str, Contract]]
"""What each known source offers: source -> capability -> contract. Both names may hold dots."""


def check_capability(reference: CapabilityRef, sources: Sources, found: Findings) -> Contract | None:
    """Look up a contract. A source of which nothing is known may still be bound by a deployment: no issue, and None."""
    offered = sources.get(reference.source)
    if offered is not None and reference.capability not in offered:
        message = f"`{reference.source}` has no `{reference.capability}`."
        found.unknown("unknown_capability", message, reference.capability, offered)
    return (offered or {}).get(reference.capability)


def check_filled(schema: JsonSchema, targets: Mapping[str, Segments], unknown: str, found: Findings) -> None:
    """Check the targets of a step's `input` against the schema of what it calls.

    Report as `unknown` a target that the schema does not have, and as `missing_capability_input` a required property
    that no target fills.
    """
    for target, segments in targets.items():
        check_exists(schema, segments, unknown, "The input", found.at("input", target))
    for name in unfilled(schema, targets.values()):
        found.error("missing_capability_input", f"The input `{name}` is required and nothing fills it.")


def check_read(schema: JsonSchema, sources: Mapping[str, Segments], unknown: str, found: Findings) -> None:
    """Check the sources of a step's `output` against the schema of the result."""
    for target, segments in sources.items():
        check_exists(schema, segments, unknown, "The result", found.at("output", target))


def unfilled(schema: JsonSchema, targets: Iterable[Segments]) -> list[str]:
    """Name the required properties at the root of a schema that no target fills, not even in part."""
    filled = {segments[0] if segments else None for segments in targets}
    if None in filled:
        return []
    required = [name for conjunct in schemas_at(schema, ()) for name in required_of(conjunct)]
    return [name for name in dict.fromkeys(required) if name not in filled]
