"""What a deployment runs is what is stored now, decoded once as long as it is the same."""

import shutil
from pathlib import Path

import pytest

from tests.wf_artifacts.samples import LATER, NOW, artifact, deployment, plan
from wf_artifacts.catalog.definitions import Definition, Definitions, StoredVersion
from wf_artifacts.catalog.models import ARTIFACT, Artifact
from wf_artifacts.catalog.references import ArtifactRef
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.stores import open_stores
from wf_core.errors import StateCorrupt
from wf_core.ids import ArtifactId, DeploymentId

PUBLISH = DeploymentId("publish")
NOTES = ArtifactRef(ArtifactId("notes"), 1)


class Documents:
    """What is stored of versions."""

    def __init__(self) -> None:
        self.stored: dict[ArtifactRef, bytes] = {}
        self.definitions = Definitions(most_bytes=2_000)

    def put(self, name: str, *children: tuple[str, int], version: int = 1) -> Artifact:
        saved = made(name, *children, version=version)
        self.stored[ArtifactRef(saved.artifact_id, version)] = ARTIFACT.encode(saved)
        return saved

    def read(self, reference: ArtifactRef) -> StoredVersion | None:
        data = self.stored.get(reference)
        # A new object each time, as from a disk.
        return None if data is None else StoredVersion(f"artifacts/{reference.artifact_id}", bytes(bytearray(data)))

    def define(self) -> Definition:
        definition = self.definitions.of(deployment(), self.read)
        assert definition is not None
        return definition


def made(name: str, *children: tuple[str, int], version: int = 1, described: str = "") -> Artifact:
    body = plan(name, *children)
    fields = {"plan": body, "digest": json_digest(body), "description": described}
    return artifact(name, version).model_copy(update=fields)


async def save(catalog: CatalogStore, name: str, artifact_id: str = "notes") -> Artifact:
    return await catalog.save_artifact(
        ArtifactId(artifact_id), {"name": name}, description="", required_capabilities=[], now=NOW
    )


def test_every_version_below_is_there_once_and_what_is_missing_is_said() -> None:
    documents = Documents()
    leaf = documents.put("leaf")
    middle = documents.put("middle", ("leaf", 1), ("gone", 3))
    notes = documents.put("notes", ("middle", 1), ("leaf", 1))
    definition = documents.define()
    assert (definition.deployment, definition.artifact) == (deployment(), notes)
    assert list(definition.children.items()) == [(("middle", 1), middle), (("leaf", 1), leaf), (("gone", 3), None)]


def test_a_deployment_without_its_version_is_none() -> None:
    assert Documents().definitions.of(deployment(), lambda _: None) is None


def test_what_is_the_same_is_not_decoded_again() -> None:
    documents = Documents()
    documents.put("leaf")
    documents.put("notes", ("leaf", 1))
    first, second = documents.define(), documents.define()
    assert first.artifact is second.artifact
    leaf = ArtifactRef(ArtifactId("leaf"), 1)
    assert first.children[leaf] is second.children[leaf] is not None


def test_other_bytes_under_the_same_name_are_what_is_given() -> None:
    documents = Documents()
    documents.put("leaf")
    documents.put("notes", ("leaf", 1))
    before = documents.define()
    changed = documents.put("leaf", ("deeper", 1))
    deeper = documents.put("deeper")
    assert list(documents.define().children.values()) == [changed, deeper]
    described = made("notes", ("leaf", 1), described="Another text.")
    documents.stored[NOTES] = ARTIFACT.encode(described)
    assert documents.define().artifact == described
    documents.put("notes", ("leaf", 1))
    assert documents.define().artifact == before.artifact


def test_what_is_gone_is_gone_although_it_was_kept() -> None:
    documents = Documents()
    documents.put("leaf")
    documents.put("notes", ("leaf", 1))
    documents.define()
    del documents.stored[ArtifactRef(ArtifactId("leaf"), 1)]
    assert list(documents.define().children.values()) == [None]
    del documents.stored[NOTES]
    assert documents.definitions.of(deployment(), documents.read) is None


def test_few_are_kept_and_all_are_given() -> None:
    documents = Documents()
    leaves = {("leaf", number): documents.put("leaf", version=number) for number in range(1, 30)}
    documents.put("notes", *leaves)
    assert documents.define().children == leaves
    assert documents.define().children == leaves


def test_a_plan_that_is_not_the_one_of_its_digest_is_damage() -> None:
    """What is worked out of a plan is found again by its digest."""
    documents = Documents()
    documents.put("notes")
    documents.define()
    other = made("notes").model_copy(update={"plan": plan("other")})
    documents.stored[NOTES] = ARTIFACT.encode(other)
    for _ in range(2):
        with pytest.raises(StateCorrupt, match="artifacts/notes is damaged: its plan is not the one that was saved"):
            documents.define()


@pytest.mark.anyio
@pytest.mark.parametrize("backend", ["file", "sqlite"])
async def test_what_another_process_stored_is_what_is_given(home: Path, backend: str) -> None:
    url = f"file://{home}" if backend == "file" else f"sqlite:///{home}/wf.db"
    async with open_stores(url) as one, open_stores(url) as other:
        await save(one.catalog, "first")
        await one.catalog.save_deployment(deployment(), replace=False)
        assert (await one.catalog.load_definition(PUBLISH)).artifact.plan == {"name": "first"}
        await save(other.catalog, "second")
        replaced = deployment(version=2).model_copy(update={"updated_at": LATER})
        await other.catalog.save_deployment(replaced, replace=True)
        found = await one.catalog.load_definition(PUBLISH)
        assert (found.deployment, found.artifact.plan) == (replaced, {"name": "second"})
        await other.catalog.delete_deployment(PUBLISH)
        await other.catalog.delete_artifact(ArtifactId("notes"))
        third = await save(other.catalog, "third")
        await other.catalog.save_deployment(deployment(version=third.version), replace=False)
        assert (await one.catalog.load_definition(PUBLISH)).artifact.plan == {"name": "third"}


@pytest.mark.anyio
async def test_a_version_that_was_saved_anew_under_its_old_number_is_what_is_given(home: Path) -> None:
    """As where a folder was removed by hand: numbers are not given twice otherwise."""
    async with open_stores(f"file://{home}") as one, open_stores(f"file://{home}") as other:
        await save(one.catalog, "first")
        await one.catalog.save_deployment(deployment(), replace=False)
        await one.catalog.load_definition(PUBLISH)
        shutil.rmtree(home / "artifacts" / "notes")
        assert (await save(other.catalog, "second")).version == 1
        assert (await one.catalog.load_definition(PUBLISH)).artifact.plan == {"name": "second"}
