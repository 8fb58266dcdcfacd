"""The definitions that a run started with, and goes on with whatever happens to the originals."""

from dataclasses import asdict
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer

from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.kept import Kept
from wf_artifacts.storage.records import Array, Record
from wf_core.calls.contract import Contract, Hints


class _StoredHints(Record):
    read_only: bool
    idempotent: bool
    destructive: bool


class _StoredContract(Record):
    input_schema: dict[str, Any] | bool
    output_schema: dict[str, Any] | bool
    outcomes: Array[str]
    hints: _StoredHints
    deferred: bool


def _read_contract(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    stored = _StoredContract.model_validate(value)
    return Contract(
        input_schema=stored.input_schema,
        output_schema=stored.output_schema,
        outcomes=stored.outcomes,
        hints=Hints(**stored.hints.model_dump()),
        deferred=stored.deferred,
    )


def _write_contract(contract: Contract) -> dict[str, Any]:
    return asdict(contract) | {"outcomes": list(contract.outcomes)}


class PinnedCapability(Record):
    """What a logical capability meant when the run started."""

    source: str
    """The source that the deployment bound, not the logical one."""
    name: str
    contract: Annotated[Contract, BeforeValidator(_read_contract), PlainSerializer(_write_contract)]
    digest: str
    """`wf_artifacts.sources.models.contract_digest` of the contract."""


class PinnedEnvironment(Record):
    """Everything that a run needs besides its state. Written once, when the run is created.

    Runs share it, so nothing in it is to be changed.
    """

    artifact: Artifact
    children: Array[Artifact] = ()
    """Every artifact version that the plan reaches through subgraphs, itself left out."""
    deployment: Deployment
    capabilities: dict[str, PinnedCapability]
    """Logical `source.capability` -> what it means in this run."""


class _EnvironmentFormat(Format[PinnedEnvironment]):
    """Writes and reads an environment once: the runs of a deployment have the same, which is as long as their plans."""

    def encode(self, record: PinnedEnvironment) -> bytes:
        kept = _WRITTEN.get(id(record))
        if kept is None or kept[0] is not record:
            kept = record, super().encode(record)
            _WRITTEN.keep(id(record), kept, size=len(kept[1]))
        return kept[1]

    def decode(self, data: bytes, document: str, **identity: object) -> PinnedEnvironment:
        kept = None if identity else _READ.get(data)
        if kept is None:
            kept = super().decode(data, document, **identity)
            _READ.keep(data, kept, size=len(data))
        return kept


_MOST_BYTES: Final = 4 * 1024 * 1024
_WRITTEN: Final = Kept[int, tuple[PinnedEnvironment, bytes]](_MOST_BYTES)
_READ: Final = Kept[bytes, PinnedEnvironment](_MOST_BYTES)

ENVIRONMENT: Final = _EnvironmentFormat("wf.run_environment", 2, PinnedEnvironment, plain=1)
