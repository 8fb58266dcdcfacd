"""Everything that is wrong with the catalog of a home."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wf_artifacts.catalog.files.tree import NUMBERS, NUMBERS_FILE, VERSION_FILE, CatalogTree
from wf_artifacts.catalog.references import ArtifactRef, lacking
from wf_artifacts.catalog.rules import require_saved_plan
from wf_artifacts.storage import atomic
from wf_artifacts.storage.findings import (
    KEEPS_NUMBER,
    MOVES_IT,
    Fault,
    Finding,
    LostAndFound,
    confirmed,
    stray,
    unreadable,
)
from wf_core.errors import StateError
from wf_core.ids import ArtifactId, DeploymentId

_NUMBERS_LOST: Final = "Moves it to lost+found. A number that was deleted may then be given again."


@dataclass(frozen=True, slots=True)
class CatalogExamination:
    """Looks at artifacts and deployments. Nobody changes the catalog while one file is looked at or repaired."""

    tree: CatalogTree
    lost: LostAndFound

    def faults(self) -> Iterator[Fault]:
        """Give everything that is wrong. Artifacts come first, because deployments need them."""
        home, tree = self.tree.home, self.tree
        artifacts, deployments = set(tree.artifact_ids()), set(tree.deployment_ids())
        for artifact_id in artifacts:
            yield from self._artifact(artifact_id)
        for deployment_id in deployments:
            yield from self._confirmed(lambda deployment_id=deployment_id: self._judge_deployment(deployment_id))
        ours = {tree.lock, *(tree.artifacts / name for name in artifacts), *map(tree.deployment_path, deployments)}
        for folder in (tree.artifacts, tree.deployments):
            for name in (*home.folders(folder), *home.files(folder)):
                if folder / name not in ours:
                    yield from self._stray(folder / name)

    def _artifact(self, artifact_id: ArtifactId) -> Iterator[Fault]:
        home = self.tree.home
        folder = self.tree.artifacts / artifact_id
        yield from self._confirmed(lambda: self._judge_numbers(artifact_id))
        for version in self.tree.given(artifact_id):
            reference = ArtifactRef(artifact_id, version)
            yield from self._confirmed(lambda reference=reference: self._judge_version(reference))
        for name in home.files(folder):
            if name != NUMBERS_FILE and not VERSION_FILE.fullmatch(name):
                yield from self._stray(folder / name)
        for name in home.folders(folder):
            yield from self._stray(folder / name)

    def _stray(self, path: Path) -> Iterator[Fault]:
        def judge() -> Fault | None:
            return stray(self._name(path), path, self.lost) if self.tree.home.has(path) else None

        yield from self._confirmed(judge)

    def _confirmed(self, judge: Callable[[], Fault | None]) -> Iterator[Fault]:
        yield from confirmed(judge, self.tree.lock)

    def _name(self, path: Path) -> str:
        return self.tree.home.document(path)

    def _judge_numbers(self, artifact_id: ArtifactId) -> Fault | None:
        path = self.tree.numbers_path(artifact_id)
        try:
            self.tree.numbers(artifact_id)
        except StateError as error:
            return unreadable(self._name(path), error, _NUMBERS_LOST, lambda: self.lost.move(path))
        return None

    def _judge_version(self, reference: ArtifactRef) -> Fault | None:
        path = self.tree.artifact_path(reference)
        document = self._name(path)
        try:
            artifact = self.tree.artifact(reference)
            if artifact is not None:
                require_saved_plan(artifact, document)
        except StateError as error:
            return unreadable(document, error, KEEPS_NUMBER, lambda: self._take_version_away(reference))
        if artifact is None and self.tree.home.has(path):
            finding = Finding(document, "leftover", "It was deleted, and a crash left its file.", MOVES_IT)
            return Fault(finding, lambda: self.lost.move(path))
        return None

    def _take_version_away(self, reference: ArtifactRef) -> None:
        numbers = self.tree.numbers(reference.artifact_id)
        kept = numbers.model_copy(update={"last": max(numbers.last, reference.version)})
        atomic.replace_file(self.tree.numbers_path(reference.artifact_id), NUMBERS.encode(kept))
        self.lost.move(self.tree.artifact_path(reference))

    def _judge_deployment(self, deployment_id: DeploymentId) -> Fault | None:
        path = self.tree.deployment_path(deployment_id)
        document = self._name(path)
        try:
            deployment = self.tree.deployment(deployment_id)
        except StateError as error:
            return unreadable(document, error, MOVES_IT, lambda: self.lost.move(path))
        return None if deployment is None else lacking(document, deployment, self.tree.artifact)
