"""What `catalog.store` promises, held against every backend."""

from typing import Any

import anyio
import pytest

from tests.wf_artifacts.samples import LATER, NOW, artifact, deployment, plan
from wf_artifacts.catalog.models import Artifact
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.errors import (
    ArtifactInUse,
    ArtifactNotFound,
    DeploymentExists,
    DeploymentNotFound,
    InvalidCursor,
    InvalidId,
)
from wf_artifacts.stores import Stores
from wf_core.errors import NotJson
from wf_core.ids import ArtifactId, DeploymentId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")
PUBLISH = DeploymentId("publish")
NO_IDS = ["", " ", ".", "..", "../x", "a/b", "-x", ".x", "a\u0000b", "x" * 129, "\u00e9", "a\n"]


@pytest.fixture
def catalog(stores: Stores) -> CatalogStore:
    return stores.catalog


async def save(catalog: CatalogStore, body: dict[str, Any] | None = None, artifact_id: str = "notes") -> Artifact:
    return await catalog.save_artifact(
        ArtifactId(artifact_id),
        plan() if body is None else body,
        description="Publishes notes.",
        required_capabilities=["files.read"],
        now=NOW,
    )


class TestSavingArtifacts:
    async def test_a_saved_plan_comes_back_as_it_was(self, catalog: CatalogStore) -> None:
        saved = await save(catalog, {"name": "odd", "big": 2**70, "text": "a\u0000b", "steps": {"": []}})
        assert saved.version == 1
        assert saved.required_capabilities == ("files.read",)
        assert saved.created_at == NOW
        assert await catalog.load_artifact(NOTES) == saved
        assert await catalog.load_artifact(NOTES, 1) == saved

    async def test_an_equal_plan_gives_the_version_that_there_is(self, catalog: CatalogStore) -> None:
        first = await save(catalog, {"name": "a", "limits": {"max_steps": 10}})
        await save(catalog, {"name": "b"})
        again = await catalog.save_artifact(
            NOTES,
            {"limits": {"max_steps": 10.0}, "name": "a"},
            description="Another text.",
            required_capabilities=[],
            now=LATER,
        )
        assert again == first

    async def test_another_plan_is_the_next_version(self, catalog: CatalogStore) -> None:
        assert [(await save(catalog, {"name": name})).version for name in ("a", "b", "a", "c")] == [1, 2, 1, 3]
        assert (await catalog.load_artifact(NOTES)).plan == {"name": "c"}
        assert (await catalog.load_artifact(NOTES, 2)).plan == {"name": "b"}

    async def test_a_number_is_never_given_twice(self, catalog: CatalogStore) -> None:
        for name in ("a", "b"):
            await save(catalog, {"name": name})
        await catalog.delete_artifact(NOTES, 2)
        assert (await save(catalog, {"name": "b"})).version == 3
        await catalog.delete_artifact(NOTES)
        assert (await save(catalog, {"name": "a"})).version == 4

    async def test_plans_saved_at_once_get_numbers_of_their_own(self, catalog: CatalogStore) -> None:
        saved: list[Artifact] = []

        async def put(name: str) -> None:
            saved.append(await save(catalog, {"name": name}))

        async with anyio.create_task_group() as tasks:
            for name in "aabbccdd":
                tasks.start_soon(put, name)
        assert {(one.plan["name"], one.version) for one in saved} == {
            (one.plan["name"], one.version) for one in [await catalog.load_artifact(NOTES, n) for n in (1, 2, 3, 4)]
        }

    async def test_a_plan_that_is_no_json_is_refused(self, catalog: CatalogStore) -> None:
        with pytest.raises(NotJson, match=r"plan\.steps\.a: NaN"):
            await save(catalog, {"steps": {"a": float("nan")}})
        with pytest.raises(ArtifactNotFound):
            await catalog.load_artifact(NOTES)

    async def test_a_plan_that_is_changed_afterwards_changes_nothing_stored(self, catalog: CatalogStore) -> None:
        body = {"steps": {"a": 1}}
        saved = await save(catalog, body)
        body["steps"]["b"] = 2
        (await catalog.load_artifact(NOTES)).plan["steps"]["c"] = 3
        assert (await catalog.load_artifact(NOTES)).plan == {"steps": {"a": 1}}
        assert saved.version == 1


class TestFindingArtifacts:
    async def test_an_unknown_id_names_close_ones(self, catalog: CatalogStore) -> None:
        await save(catalog)
        with pytest.raises(ArtifactNotFound) as missing:
            await catalog.load_artifact(ArtifactId("note"))
        assert missing.value.close == ("notes",)

    async def test_an_unknown_version_names_those_that_there_are(self, catalog: CatalogStore) -> None:
        for name in ("a", "b", "c"):
            await save(catalog, {"name": name})
        await catalog.delete_artifact(NOTES, 2)
        for version in (2, 4, 0, -1):
            with pytest.raises(ArtifactNotFound) as missing:
                await catalog.load_artifact(NOTES, version)
            assert missing.value.versions == (1, 3)

    async def test_a_deleted_artifact_is_gone_and_not_suggested(self, catalog: CatalogStore) -> None:
        await save(catalog)
        await catalog.delete_artifact(NOTES)
        with pytest.raises(ArtifactNotFound) as missing:
            await catalog.load_artifact(NOTES)
        assert missing.value.close == ()
        with pytest.raises(ArtifactNotFound):
            await catalog.delete_artifact(NOTES)
        assert (await catalog.list_artifacts(limit=10)).items == ()

    @pytest.mark.parametrize("text", NO_IDS)
    async def test_what_cannot_be_an_id_is_refused_before_anything_else(self, catalog: CatalogStore, text: str) -> None:
        for attempt in (
            save(catalog, artifact_id=text),
            catalog.load_artifact(ArtifactId(text)),
            catalog.delete_artifact(ArtifactId(text)),
            catalog.save_deployment(deployment(text), replace=True),
            catalog.save_deployment(deployment(artifact_id=text), replace=True),
            catalog.load_deployment(DeploymentId(text)),
            catalog.load_definition(DeploymentId(text)),
            catalog.delete_deployment(DeploymentId(text)),
        ):
            with pytest.raises(InvalidId) as refused:
                await attempt
            assert refused.value.code == "invalid_argument"


class TestDeletingArtifacts:
    async def test_a_deployed_version_is_kept(self, catalog: CatalogStore) -> None:
        for name in ("a", "b"):
            await save(catalog, {"name": name})
        await catalog.save_deployment(deployment(version=1), replace=False)
        for version in (1, None):
            with pytest.raises(ArtifactInUse) as refused:
                await catalog.delete_artifact(NOTES, version)
            assert (refused.value.version, refused.value.used_by) == (1, ("publish",))
        await catalog.delete_artifact(NOTES, 2)
        assert (await catalog.list_artifacts(limit=10)).items[0].versions == (1,)

    async def test_a_child_of_what_is_deployed_is_kept_at_any_depth(self, catalog: CatalogStore) -> None:
        await save(catalog, plan("leaf"), "leaf")
        await save(catalog, {"steps": {"a": {"type": "subgraph", "workflow": {"plan": plan("x", ("leaf", 1))}}}}, "mid")
        await save(catalog, plan("top", ("mid", 1)))
        await catalog.save_deployment(deployment(), replace=False)
        with pytest.raises(ArtifactInUse):
            await catalog.delete_artifact(ArtifactId("leaf"))
        await catalog.delete_deployment(PUBLISH)
        await catalog.delete_artifact(ArtifactId("leaf"))


class TestRestoring:
    async def test_an_artifact_from_another_store_keeps_its_numbers(self, catalog: CatalogStore) -> None:
        versions = [artifact(version=2), artifact(version=5)]
        await catalog.restore_artifact(NOTES, versions, last=7)
        assert [await catalog.load_artifact(NOTES, version) for version in (2, 5)] == versions
        assert await catalog.load_artifact(NOTES) == versions[1]
        assert (await catalog.list_artifacts(limit=10)).items[0].versions == (2, 5)
        assert await catalog.last_versions() == {NOTES: 7}
        assert (await save(catalog, {"name": "new"})).version == 8

    async def test_an_artifact_of_which_nothing_is_left_keeps_its_numbers(self, catalog: CatalogStore) -> None:
        await catalog.restore_artifact(NOTES, [], last=3)
        assert (await catalog.list_artifacts(limit=10)).items == ()
        assert await catalog.last_versions() == {NOTES: 3}
        assert (await save(catalog)).version == 4

    async def test_the_highest_numbers_are_told_of_deleted_versions_too(self, catalog: CatalogStore) -> None:
        for name in ("a", "b"):
            await save(catalog, {"name": name})
        await save(catalog, {"name": "a"}, "other")
        await catalog.delete_artifact(NOTES, 2)
        await catalog.delete_artifact(ArtifactId("other"))
        assert await catalog.last_versions() == {NOTES: 2, ArtifactId("other"): 1}

    async def test_nothing_is_restored_over_what_was_saved(self, catalog: CatalogStore) -> None:
        saved = await save(catalog)
        with pytest.raises(ValueError, match="saved before"):
            await catalog.restore_artifact(NOTES, [artifact(version=2)], last=2)
        assert await catalog.load_artifact(NOTES) == saved
        await catalog.delete_artifact(NOTES)
        with pytest.raises(ValueError, match="saved before"):
            await catalog.restore_artifact(NOTES, [artifact(version=2)], last=2)

    @pytest.mark.parametrize("wrong", [artifact("other"), artifact(version=3)])
    async def test_versions_that_do_not_fit_are_refused(self, catalog: CatalogStore, wrong: Artifact) -> None:
        with pytest.raises(ValueError, match="no versions of notes"):
            await catalog.restore_artifact(NOTES, [wrong], last=2)
        assert await catalog.last_versions() in ({}, {NOTES: 0})


class TestDeployments:
    async def test_a_saved_deployment_comes_back(self, catalog: CatalogStore) -> None:
        await save(catalog)
        assert await catalog.save_deployment(deployment(), replace=False) == deployment()
        assert await catalog.load_deployment(PUBLISH) == deployment()

    async def test_an_id_that_is_taken_is_replaced_only_when_asked(self, catalog: CatalogStore) -> None:
        await save(catalog)
        await catalog.save_deployment(deployment(), replace=False)
        fields = {"bindings": {"files": "other"}, "created_at": LATER, "updated_at": LATER}
        other = deployment().model_copy(update=fields)
        with pytest.raises(DeploymentExists):
            await catalog.save_deployment(other, replace=False)
        assert await catalog.load_deployment(PUBLISH) == deployment()
        replaced = await catalog.save_deployment(other, replace=True)
        assert (replaced.bindings, replaced.created_at, replaced.updated_at) == ({"files": "other"}, NOW, LATER)
        assert await catalog.load_deployment(PUBLISH) == replaced

    @pytest.mark.parametrize(("artifact_id", "version"), [("other", 1), ("notes", 2), ("orphan", 1), ("climber", 1)])
    async def test_what_it_deploys_must_be_there(self, catalog: CatalogStore, artifact_id: str, version: int) -> None:
        await save(catalog)
        await save(catalog, plan("x", ("gone", 1)), "orphan")
        await save(catalog, plan("x", ("../../artifacts/notes", 1)), "climber")
        with pytest.raises(ArtifactNotFound):
            await catalog.save_deployment(deployment("d", artifact_id, version), replace=False)
        with pytest.raises(DeploymentNotFound):
            await catalog.load_deployment(DeploymentId("d"))

    async def test_an_unknown_id_names_close_ones(self, catalog: CatalogStore) -> None:
        await save(catalog)
        await catalog.save_deployment(deployment(), replace=False)
        for ask in (catalog.load_deployment, catalog.load_definition, catalog.delete_deployment):
            with pytest.raises(DeploymentNotFound) as missing:
                await ask(DeploymentId("publsh"))
            assert missing.value.close == ("publish",)

    async def test_it_is_given_with_everything_that_it_runs(self, catalog: CatalogStore) -> None:
        leaf = await save(catalog, artifact_id="leaf")
        middle = await save(catalog, plan("middle", ("leaf", 1)), "middle")
        notes = await save(catalog, plan("notes", ("middle", 1), ("leaf", 1)))
        await catalog.save_deployment(deployment(), replace=False)
        for _ in range(2):
            found = await catalog.load_definition(PUBLISH)
            assert (found.deployment, found.artifact) == (deployment(), notes)
            assert list(found.children.items()) == [(("middle", 1), middle), (("leaf", 1), leaf)]

    async def test_what_it_runs_is_what_is_stored_now(self, catalog: CatalogStore) -> None:
        await save(catalog)
        await catalog.save_deployment(deployment(), replace=False)
        assert (await catalog.load_definition(PUBLISH)).artifact.plan == plan()
        await save(catalog, {"name": "b"})
        await catalog.save_deployment(deployment(version=2), replace=True)
        assert (await catalog.load_definition(PUBLISH)).artifact.plan == {"name": "b"}
        await catalog.delete_deployment(PUBLISH)
        with pytest.raises(DeploymentNotFound):
            await catalog.load_definition(PUBLISH)

    async def test_a_deleted_deployment_is_gone(self, catalog: CatalogStore) -> None:
        await save(catalog)
        await catalog.save_deployment(deployment(), replace=False)
        await catalog.delete_deployment(PUBLISH)
        with pytest.raises(DeploymentNotFound):
            await catalog.load_deployment(PUBLISH)
        with pytest.raises(DeploymentNotFound):
            await catalog.delete_deployment(PUBLISH)

    async def test_deploying_and_deleting_at_once_never_leaves_a_deployment_without_artifact(
        self, catalog: CatalogStore
    ) -> None:
        outcomes: list[str] = []

        async def deploy(name: str) -> None:
            try:
                await catalog.save_deployment(deployment(name, name), replace=False)
                outcomes.append(f"{name} deployed")
            except ArtifactNotFound:
                outcomes.append(f"{name} not deployed")

        async def delete(name: str) -> None:
            try:
                await catalog.delete_artifact(ArtifactId(name))
                outcomes.append(f"{name} deleted")
            except ArtifactInUse:
                outcomes.append(f"{name} not deleted")

        names = [f"a{number}" for number in range(6)]
        for name in names:
            await save(catalog, artifact_id=name)
        async with anyio.create_task_group() as tasks:
            for number, name in enumerate(names):
                first, second = (deploy, delete) if number % 2 else (delete, deploy)
                tasks.start_soon(first, name)
                tasks.start_soon(second, name)
        for name in names:
            assert (f"{name} deployed" in outcomes) == (f"{name} not deleted" in outcomes)
        assert len(outcomes) == 2 * len(names)


class TestListing:
    async def test_artifacts_are_listed_by_id_with_their_versions(self, catalog: CatalogStore) -> None:
        for artifact_id in ("b", "a", "C"):
            await save(catalog, {"name": "1"}, artifact_id)
            await save(catalog, {"name": "2"}, artifact_id)
        page = await catalog.list_artifacts(limit=10)
        assert [(row.newest.artifact_id, row.newest.version, row.versions) for row in page.items] == [
            ("C", 2, (1, 2)),
            ("a", 2, (1, 2)),
            ("b", 2, (1, 2)),
        ]

    async def test_pages_meet_everything_once_while_the_list_changes(self, catalog: CatalogStore) -> None:
        for artifact_id in ("a", "c", "e"):
            await save(catalog, artifact_id=artifact_id)
            await catalog.save_deployment(deployment(artifact_id, artifact_id), replace=False)
        artifacts = await catalog.list_artifacts(limit=2)
        deployments = await catalog.list_deployments(limit=2)
        assert [row.newest.artifact_id for row in artifacts.items] == ["a", "c"]
        assert [row.deployment_id for row in deployments.items] == ["a", "c"]
        await catalog.delete_deployment(DeploymentId("c"))
        await catalog.delete_artifact(ArtifactId("c"))
        for artifact_id in ("b", "d"):
            await save(catalog, artifact_id=artifact_id)
        rest = await catalog.list_artifacts(limit=2, cursor=artifacts.next_cursor)
        assert ([row.newest.artifact_id for row in rest.items], rest.next_cursor) == (["d", "e"], None)
        rest_deployments = await catalog.list_deployments(limit=2, cursor=deployments.next_cursor)
        assert [row.deployment_id for row in rest_deployments.items] == ["e"]

    async def test_a_cursor_of_another_list_is_refused(self, catalog: CatalogStore) -> None:
        for artifact_id in ("a", "b"):
            await save(catalog, artifact_id=artifact_id)
            await catalog.save_deployment(deployment(artifact_id, artifact_id), replace=False)
        of_artifacts = (await catalog.list_artifacts(limit=1)).next_cursor
        of_deployments = (await catalog.list_deployments(limit=1)).next_cursor
        with pytest.raises(InvalidCursor):
            await catalog.list_deployments(cursor=of_artifacts, limit=1)
        with pytest.raises(InvalidCursor):
            await catalog.list_artifacts(cursor=of_deployments, limit=1)
