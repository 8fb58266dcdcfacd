"""What is to be saved is judged alike by every store."""

from typing import Any

import pytest

from tests.wf_artifacts.samples import LATER, NOW, deployment, plan
from wf_artifacts.catalog.models import Artifact
from wf_artifacts.catalog.rules import first_version, require_ids, require_saved_plan, taking_the_place_of
from wf_artifacts.errors import DeploymentExists, InvalidId
from wf_artifacts.storage.digests import json_digest
from wf_core.errors import NotJson, StateCorrupt
from wf_core.ids import ArtifactId


def made(artifact_id: str = "notes", body: dict[str, Any] | None = None) -> Artifact:
    return first_version(
        ArtifactId(artifact_id),
        plan() if body is None else body,
        description="Publishes notes.",
        required_capabilities=["files.read"],
        now=NOW,
    )


def test_an_artifact_is_known_by_the_digest_of_its_plan() -> None:
    assert (made().version, made().digest, made().plan) == (1, json_digest(plan()), plan())


def test_an_artifact_needs_an_id_and_a_plan_that_is_json() -> None:
    with pytest.raises(InvalidId):
        made("../notes")
    with pytest.raises(NotJson) as caught:
        made(body={"name": float("nan")})
    assert caught.value.where == "plan.name"


def test_a_version_that_is_read_has_the_plan_of_its_digest() -> None:
    require_saved_plan(made(), "artifacts/notes/1")
    with pytest.raises(StateCorrupt, match="artifacts/notes/1"):
        require_saved_plan(made().model_copy(update={"plan": {}}), "artifacts/notes/1")


@pytest.mark.parametrize("wrong", [deployment("../publish"), deployment(artifact_id="../notes")])
def test_both_ids_of_a_deployment_are_looked_at(wrong: Any) -> None:
    require_ids(deployment())
    with pytest.raises(InvalidId):
        require_ids(wrong)


def test_a_deployment_is_replaced_only_when_asked_to_and_its_id_stays_as_old_as_it_is() -> None:
    newer = deployment(version=2).model_copy(update={"created_at": LATER, "updated_at": LATER})
    assert taking_the_place_of(None, newer, replace=False) == newer
    with pytest.raises(DeploymentExists):
        taking_the_place_of(deployment(), newer, replace=False)
    kept = taking_the_place_of(deployment(), newer, replace=True)
    assert kept == newer.model_copy(update={"created_at": NOW})
