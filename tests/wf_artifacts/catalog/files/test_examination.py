"""What is wrong with the catalog is named, and repaired without losing a byte or giving a number twice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.documents import resealed
from tests.wf_artifacts.samples import NOW, deployment, plan
from wf_artifacts.storage.findings import Finding
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import ArtifactId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")


@pytest.fixture
async def stores(home: Path) -> AsyncIterator[Stores]:
    """Versions 1 and 2 of an artifact, of which the first is deployed."""
    async with open_stores(f"file://{home}") as stores:
        await save(stores, "first")
        await save(stores, "second")
        await stores.catalog.save_deployment(deployment(), replace=False)
        yield stores


async def save(stores: Stores, name: str) -> int:
    saved = await stores.catalog.save_artifact(NOTES, plan(name), description="", required_capabilities=[], now=NOW)
    return saved.version


async def found(stores: Stores, *, repair: bool = False) -> list[Finding]:
    return [finding async for finding in stores.examine(repair=repair)]


async def documents(stores: Stores, *, repair: bool = False) -> list[tuple[str, str]]:
    return [(finding.document, finding.kind) for finding in await found(stores, repair=repair)]


async def test_nothing_is_wrong_with_a_catalog_that_was_left_alone(stores: Stores) -> None:
    await stores.catalog.delete_artifact(NOTES, 2)
    assert await found(stores) == []


async def test_a_damaged_version_is_taken_out_and_its_number_never_given_again(home: Path, stores: Stores) -> None:
    path = home / "artifacts" / "notes" / "000002.json"
    path.write_bytes(b"damaged")
    assert await documents(stores, repair=True) == [("artifacts/notes/000002.json", "damaged")]
    assert (home / "lost+found" / "artifacts" / "notes" / "000002.json").read_bytes() == b"damaged"
    assert await found(stores) == []
    assert await save(stores, "third") == 3


async def test_a_version_whose_plan_was_exchanged_is_damaged(home: Path, stores: Stores) -> None:
    path = home / "artifacts" / "notes" / "000002.json"
    path.write_bytes(resealed(path.read_bytes().replace(b'"name":"second"', b'"name":"others"')))
    (finding,) = await found(stores)
    assert finding.problem == "It is damaged: its plan is not the one that was saved."


async def test_a_deployment_whose_artifact_is_gone_is_left_to_its_owner(home: Path, stores: Stores) -> None:
    (home / "artifacts" / "notes" / "000001.json").unlink()
    (finding,) = await found(stores, repair=True)
    assert finding == Finding(
        "deployments/publish.json", "orphaned", "It needs version 1 of artifact 'notes', which is not there.", None
    )
    assert await found(stores) == [finding]


async def test_a_damaged_artifact_is_not_told_again_for_its_deployment(home: Path, stores: Stores) -> None:
    (home / "artifacts" / "notes" / "000001.json").write_bytes(b"damaged")
    assert await documents(stores) == [("artifacts/notes/000001.json", "damaged")]


async def test_a_damaged_deployment_is_taken_out(home: Path, stores: Stores) -> None:
    (home / "deployments" / "publish.json").write_bytes(b"damaged")
    assert await documents(stores, repair=True) == [("deployments/publish.json", "damaged")]
    assert await found(stores) == []


async def test_damaged_numbers_are_taken_out(home: Path, stores: Stores) -> None:
    (home / "artifacts" / "notes" / "numbers.json").write_bytes(b"damaged")
    (finding,) = await found(stores, repair=True)
    assert finding.repair == "Moves it to lost+found. A number that was deleted may then be given again."
    assert await found(stores) == []


async def test_a_deleted_version_that_a_crash_left_is_taken_out(home: Path, stores: Stores) -> None:
    await stores.catalog.delete_deployment(deployment().deployment_id)
    path = home / "artifacts" / "notes" / "000002.json"
    data = path.read_bytes()
    await stores.catalog.delete_artifact(NOTES)
    path.write_bytes(data)
    assert await documents(stores, repair=True) == [("artifacts/notes/000002.json", "leftover")]
    assert await found(stores) == []


async def test_what_does_not_belong_into_the_catalog_is_taken_out(home: Path, stores: Stores) -> None:
    strays = {
        "artifacts/.half.json.tmp": "leftover",
        "artifacts/README": "unknown",
        "artifacts/notes/.000003.json.tmp": "leftover",
        "artifacts/notes/1.json": "unknown",
        "deployments/.publish.json.tmp": "leftover",
        "deployments/publish.yaml": "unknown",
    }
    for name in strays:
        (home / name).write_bytes(name.encode())
    (home / "deployments" / "folder").mkdir()
    (home / "artifacts" / "notes" / "folder").mkdir()
    expected = strays | {"deployments/folder": "unknown", "artifacts/notes/folder": "unknown"}
    assert dict(await documents(stores, repair=True)) == expected
    assert await found(stores) == []
    assert all((home / "lost+found" / name).read_bytes() == name.encode() for name in strays)


async def test_a_newer_artifact_is_left_to_the_version_that_wrote_it(home: Path, stores: Stores) -> None:
    path = home / "artifacts" / "notes" / "000002.json"
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":99', 1))
    before = path.read_bytes()
    assert await documents(stores, repair=True) == [("artifacts/notes/000002.json", "newer")]
    assert path.read_bytes() == before
