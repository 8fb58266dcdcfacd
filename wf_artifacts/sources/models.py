"""A capability as a source offers it, and the digest by which a changed contract is noticed."""

from dataclasses import dataclass

from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract, essence


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


def contract_digest(contract: Contract) -> str:
    """Give the digest over a contract's schemas and outcomes.

    What only describes (title, description, examples, $comment) is left out of schemas at every depth, but a property
    of such a name counts. Hints do not.
    """
    return json_digest(essence(contract))
