"""What the catalog's files say."""

from pathlib import Path

import pytest

from tests.wf_artifacts.samples import artifact, deployment
from wf_artifacts.catalog.files.tree import NUMBERS, CatalogTree, Numbers
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT
from wf_artifacts.catalog.references import ArtifactRef
from wf_artifacts.storage.home import Home
from wf_core.errors import StateCorrupt
from wf_core.ids import ArtifactId, DeploymentId

NOTES = ArtifactId("notes")


@pytest.fixture
def tree(home: Path) -> CatalogTree:
    """Versions 1, 2 and 3 of an artifact, of which 1 is deleted but for its file, and a deployment."""
    tree = CatalogTree(Home(home))
    (tree.artifacts / NOTES).mkdir(parents=True)
    tree.deployments.mkdir()
    for version in (1, 2, 3):
        path = tree.artifact_path(ArtifactRef(NOTES, version))
        path.write_bytes(ARTIFACT.encode(artifact("notes", version)))
    tree.numbers_path(NOTES).write_bytes(NUMBERS.encode(Numbers(last=5, deleted_through=1)))
    tree.deployment_path(DeploymentId("publish")).write_bytes(DEPLOYMENT.encode(deployment()))
    return tree


def test_a_deleted_version_is_none_though_its_file_is_there(tree: CatalogTree) -> None:
    assert tree.given(NOTES) == [1, 2, 3]
    assert tree.versions(NOTES) == [2, 3]
    assert tree.artifact(ArtifactRef(NOTES, 1)) is None
    assert tree.artifact(ArtifactRef(NOTES, 3)) == artifact("notes", 3)


def test_an_artifact_without_numbers_has_given_none_back(tree: CatalogTree) -> None:
    tree.numbers_path(NOTES).unlink()
    assert tree.numbers(NOTES) == Numbers(last=0, deleted_through=0)
    assert tree.versions(NOTES) == [1, 2, 3]


@pytest.mark.parametrize("text", ["", "../notes", "a/b", "nothing"])
def test_any_text_may_be_asked_for(tree: CatalogTree, text: str) -> None:
    assert tree.artifact(ArtifactRef(ArtifactId(text), 1)) is None


def test_what_has_another_form_is_no_artifact_and_no_deployment(tree: CatalogTree) -> None:
    (tree.artifacts / ".hidden").mkdir()
    (tree.artifacts / "file").write_bytes(b"")
    (tree.artifacts / NOTES / "1.json").write_bytes(b"")
    (tree.deployments / "README").write_bytes(b"")
    (tree.deployments / ".publish.json.tmp").write_bytes(b"")
    assert tree.artifact_ids() == [NOTES]
    assert tree.versions(NOTES) == [2, 3]
    assert tree.deployment_ids() == ["publish"]
    assert list(tree.every_deployment()) == [deployment()]


def test_a_file_under_the_name_of_another_is_damage(tree: CatalogTree) -> None:
    tree.artifact_path(ArtifactRef(NOTES, 4)).write_bytes(ARTIFACT.encode(artifact("notes", 3)))
    with pytest.raises(StateCorrupt, match="its version is 3"):
        tree.artifact(ArtifactRef(NOTES, 4))
