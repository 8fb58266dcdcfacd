"""What only files can do to a catalog: damage, crashes, a full disk, processes side by side."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import pytest

from tests.wf_artifacts.obstacles import OBSTACLES, replace
from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.samples import NOW, artifact, deployment
from wf_artifacts.catalog.files.tree import CatalogTree
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.errors import ArtifactNotFound, NotFound, StoreFull, StoreUnavailable
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.steps import observed
from wf_artifacts.stores import open_stores
from wf_core.errors import FormatTooNew, StateCorrupt
from wf_core.ids import ArtifactId, DeploymentId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")
PUBLISH = DeploymentId("publish")


@pytest.fixture
def catalog(home: Path) -> CatalogStore:
    return open_stores(f"file://{home}").catalog


async def save(catalog: CatalogStore, name: str, artifact_id: str = "notes") -> int:
    saved = await catalog.save_artifact(
        ArtifactId(artifact_id), {"name": name}, description="", required_capabilities=[], now=NOW
    )
    return saved.version


def contents(home: Path) -> dict[str, bytes]:
    """Give every file but the locks."""
    files = (path for path in home.rglob("*") if path.is_file() and not path.name.endswith("lock"))
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def truncated(data: bytes) -> bytes:
    return data[:-5]


def too_new(data: bytes) -> bytes:
    return json.dumps(json.loads(data) | {"version": 999}).encode()


@pytest.mark.parametrize(("damage", "error"), [(truncated, StateCorrupt), (too_new, FormatTooNew)])
async def test_a_damaged_artifact_is_told_and_the_others_are_listed(
    home: Path, catalog: CatalogStore, damage: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    for artifact_id in ("healthy", "notes"):
        await save(catalog, "a", artifact_id)
    path = home / "artifacts" / "notes" / "000001.json"
    path.write_bytes(damage(path.read_bytes()))
    left = path.read_bytes()
    with pytest.raises(error, match=r"artifacts/notes/000001\.json"):
        await catalog.load_artifact(NOTES)
    page = await catalog.list_artifacts(limit=10)
    assert [row.newest.artifact_id for row in page.items] == ["healthy"]
    assert [(damaged.identifier, type(damaged.error)) for damaged in page.damaged] == [("notes", error)]
    assert await save(catalog, "a") == 2
    assert path.read_bytes() == left


async def test_a_damaged_deployment_is_told_and_the_others_are_listed(home: Path, catalog: CatalogStore) -> None:
    await save(catalog, "a")
    for deployment_id in ("healthy", "publish"):
        await catalog.save_deployment(deployment(deployment_id), replace=False)
    path = home / "deployments" / "publish.json"
    path.write_bytes(truncated(path.read_bytes()))
    with pytest.raises(StateCorrupt, match=r"deployments/publish\.json"):
        await catalog.load_deployment(PUBLISH)
    page = await catalog.list_deployments(limit=10)
    assert [row.deployment_id for row in page.items] == ["healthy"]
    assert [damaged.identifier for damaged in page.damaged] == ["publish"]
    with pytest.raises(StateCorrupt):
        await catalog.delete_artifact(NOTES)
    await catalog.delete_deployment(PUBLISH)
    assert [row.deployment_id for row in (await catalog.list_deployments(limit=10)).items] == ["healthy"]


@pytest.mark.parametrize("obstacle", OBSTACLES)
async def test_what_stands_in_the_place_of_a_document_hides_no_other(
    home: Path, catalog: CatalogStore, obstacle: str
) -> None:
    for artifact_id in ("healthy", "notes"):
        await save(catalog, "a", artifact_id)
        await catalog.save_deployment(deployment(artifact_id, artifact_id), replace=False)
    replace(home / "artifacts" / "notes" / "000001.json", obstacle)
    artifacts = await catalog.list_artifacts(limit=10)
    assert [row.newest.artifact_id for row in artifacts.items] == ["healthy"]
    if obstacle != "folder":
        replace(home / "deployments" / "notes.json", obstacle)
        deployments = await catalog.list_deployments(limit=10)
        assert [row.deployment_id for row in deployments.items] == ["healthy"]
        assert [damaged.identifier for damaged in deployments.damaged] == ["notes"]


async def test_a_file_under_the_name_of_another_is_damage(home: Path, catalog: CatalogStore) -> None:
    await save(catalog, "a")
    folder = home / "artifacts" / "notes"
    (folder / "000002.json").write_bytes((folder / "000001.json").read_bytes())
    with pytest.raises(StateCorrupt, match="its version is 1"):
        await catalog.load_artifact(NOTES, 2)


OTHER_BINDINGS = deployment().model_copy(update={"bindings": {"files": "other"}})
CHANGES: dict[str, Callable[[CatalogStore], Awaitable[object]]] = {
    "save a version": lambda catalog: save(catalog, "c"),
    "save a first version": lambda catalog: save(catalog, "c", "new"),
    "replace a deployment": lambda catalog: catalog.save_deployment(OTHER_BINDINGS, replace=True),
    "delete a deployment": lambda catalog: catalog.delete_deployment(PUBLISH),
    "delete every version": lambda catalog: catalog.delete_artifact(ArtifactId("spare")),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_that_fails_anywhere_is_seen_undone_or_done(
    home: Path, catalog: CatalogStore, change: str
) -> None:
    for name in ("a", "b"):
        await save(catalog, name)
        await save(catalog, name, "spare")
    await catalog.save_deployment(deployment(), replace=False)
    before = await visible(catalog)
    seen = before
    point = 0
    while seen == before:
        with at_change(point, no_room), suppress(StoreFull):
            await CHANGES[change](catalog)
        seen = await visible(catalog)
        assert not [path for path in contents(home) if path.endswith(".tmp")]
        point += 1
    assert point > 1
    with suppress(NotFound):
        await CHANGES[change](catalog)
    assert await visible(catalog) == seen


async def visible(catalog: CatalogStore) -> str:
    """Tell what a reader sees."""
    artifacts = await catalog.list_artifacts(limit=50)
    deployments = await catalog.list_deployments(limit=50)
    return f"{[(row.newest.artifact_id, row.versions) for row in artifacts.items]} {deployments.items}"


async def test_a_deletion_that_a_crash_cut_short_took_back_every_version(home: Path, catalog: CatalogStore) -> None:
    for name in ("a", "b", "c"):
        await save(catalog, name)
    folder = home / "artifacts" / "notes"
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    await catalog.delete_artifact(NOTES)
    for path, data in kept.items():
        path.write_bytes(data)
    for version in (None, 1, 3):
        with pytest.raises(ArtifactNotFound):
            await catalog.load_artifact(NOTES, version)
    assert (await catalog.list_artifacts(limit=10)).items == ()
    assert await save(catalog, "a") == 4


async def test_temporary_files_of_crashed_writers_are_invisible_and_removed(home: Path, catalog: CatalogStore) -> None:
    await save(catalog, "a")
    await catalog.save_deployment(deployment(), replace=False)
    for left in ("artifacts/notes/.000002.json.tmp", "deployments/.other.json.tmp"):
        (home / left).write_bytes(b"half")
    assert (await catalog.list_artifacts(limit=10)).items[0].versions == (1,)
    assert len((await catalog.list_deployments(limit=10)).items) == 1
    await save(catalog, "b")
    await catalog.save_deployment(deployment(), replace=True)
    assert not [path for path in contents(home) if path.endswith(".tmp")]


async def test_strange_names_are_not_listed(home: Path, catalog: CatalogStore) -> None:
    await save(catalog, "a")
    await catalog.save_deployment(deployment(), replace=False)
    for strange in ("artifacts/README", "artifacts/notes/notes.txt", "deployments/.x.json", "deployments/x y.json"):
        (home / strange).write_bytes(b"?")
    (home / "artifacts" / "empty").mkdir()
    assert [row.newest.artifact_id for row in (await catalog.list_artifacts(limit=10)).items] == ["notes"]
    page = await catalog.list_deployments(limit=10)
    assert ([row.deployment_id for row in page.items], page.damaged) == (["publish"], ())


async def test_a_refused_change_stores_nothing(home: Path, catalog: CatalogStore) -> None:
    await save(catalog, "a")
    before = contents(home)
    with pytest.raises(ArtifactNotFound):
        await catalog.save_deployment(deployment(version=9), replace=False)
    with pytest.raises(ArtifactNotFound):
        await catalog.delete_artifact(ArtifactId("other"))
    assert contents(home) == before
    assert not (home / "artifacts" / "other").exists()


async def test_a_home_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    catalog = open_stores("file:///dev/null").catalog
    for attempt in (catalog.list_artifacts(limit=1), save(catalog, "a"), catalog.load_deployment(PUBLISH)):
        with pytest.raises(StoreUnavailable):
            await attempt


async def test_readers_see_every_version_from_another_store_or_none(home: Path, catalog: CatalogStore) -> None:
    tree = CatalogTree(Home(home))
    seen: list[list[int]] = []
    with observed(lambda _: seen.append(tree.versions(NOTES))):
        await catalog.restore_artifact(NOTES, [artifact(version=number) for number in (2, 3)], last=4)
    assert [versions for versions, _ in groupby(seen)] == [[], [2, 3]]
