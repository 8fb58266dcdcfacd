"""The memory catalog beside the contract that `test_store` holds it to."""

import pytest

from tests.wf_artifacts.samples import NOW
from wf_artifacts.catalog.memory import MemoryCatalog
from wf_core.ids import ArtifactId

pytestmark = pytest.mark.anyio


async def test_two_catalogs_share_nothing() -> None:
    first, second = MemoryCatalog(), MemoryCatalog()
    await first.save_artifact(ArtifactId("notes"), {}, description="", required_capabilities=[], now=NOW)
    assert len((await first.list_artifacts(limit=1)).items) == 1
    assert (await second.list_artifacts(limit=1)).items == ()
