"""What a deployment runs, which is read at the beginning of every run of it.

A version is decoded once, and again when its document is another: what counts are the bytes that are stored now, also
where another process wrote them, so nobody is given anything older.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from wf_artifacts.catalog.models import ARTIFACT, Artifact, Deployment
from wf_artifacts.catalog.references import ArtifactRef, child_references
from wf_artifacts.catalog.rules import require_saved_plan
from wf_artifacts.storage.kept import Kept

_MOST_BYTES: Final = 4 * 1024 * 1024
"""Of documents whose versions are kept. Decoded they take some ten times as much."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A deployment and all that it runs, as it is stored at one moment. Others share it, so it is not to be changed."""

    deployment: Deployment
    artifact: Artifact
    children: Mapping[ArtifactRef, Artifact | None]
    """Every version that the plan reaches through subgraphs, itself left out. None is one that does not exist."""


class StoredVersion(NamedTuple):
    """The document of a version."""

    name: str
    """How errors name it."""
    data: bytes


ReadVersion = Callable[[ArtifactRef], StoredVersion | None]
"""Gives what is stored of a version now, or None where it does not exist."""


@dataclass(frozen=True, slots=True)
class _Version:
    data: bytes
    artifact: Artifact
    children: tuple[ArtifactRef, ...]


class Definitions:
    """Reads definitions, and keeps the versions that were read last. Any thread may use it."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._kept = Kept[ArtifactRef, _Version](most_bytes)

    def of(self, deployment: Deployment, read: ReadVersion) -> Definition | None:
        """Read everything that a deployment runs, or give None where its own artifact version does not exist.

        Raises:
            StateCorrupt, FormatTooNew: a version cannot be read, or its plan is not the one of its digest.
        """
        root = self._version(ArtifactRef(deployment.artifact_id, deployment.artifact_version), read)
        if root is None:
            return None
        children: dict[ArtifactRef, Artifact | None] = {}
        ahead = list(root.children)
        for reference in ahead:
            if reference not in children:
                child = self._version(reference, read)
                children[reference] = None if child is None else child.artifact
                ahead += () if child is None else child.children
        return Definition(deployment, root.artifact, children)

    def _version(self, reference: ArtifactRef, read: ReadVersion) -> _Version | None:
        stored = read(reference)
        if stored is None:
            return None
        kept = self._kept.get(reference)
        if kept is None or kept.data != stored.data:
            kept = _decoded(reference, stored)
            self._kept.keep(reference, kept, size=len(stored.data))
        return kept


def _decoded(reference: ArtifactRef, stored: StoredVersion) -> _Version:
    artifact = ARTIFACT.decode(stored.data, stored.name, **reference._asdict())
    require_saved_plan(artifact, stored.name)
    return _Version(stored.data, artifact, tuple(child_references(artifact.plan)))
