"""What a plan reaches, whatever stands in it."""

from typing import Any

import pytest

from tests.wf_artifacts.samples import artifact, deployment, plan
from wf_artifacts.catalog.models import Artifact
from wf_artifacts.catalog.references import (
    ArtifactRef,
    child_references,
    reach,
    require_reachable,
    require_unused,
)
from wf_artifacts.errors import ArtifactInUse, ArtifactNotFound
from wf_core.ids import ArtifactId


def ref(artifact_id: str, version: int = 1) -> ArtifactRef:
    return ArtifactRef(ArtifactId(artifact_id), version)


def catalog(**plans: dict[str, Any]) -> dict[ArtifactRef, Artifact]:
    """Version 1 of artifacts with these plans."""
    return {ref(name): artifact(name).model_copy(update={"plan": body}) for name, body in plans.items()}


def test_children_are_found_also_in_plans_written_in_place() -> None:
    inner = {"type": "subgraph", "workflow": {"plan": plan("x", ("b", 2))}}
    body = plan("top", ("a", 1))
    body["steps"]["inner"] = inner
    assert set(child_references(body)) == {ref("a"), ref("b", 2)}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"steps": None},
        {"steps": []},
        {"steps": {"a": None}},
        {"steps": {"a": {"type": "subgraph"}}},
        {"steps": {"a": {"type": "subgraph", "workflow": "x"}}},
        {"steps": {"a": {"type": "subgraph", "workflow": {"artifact_id": 1, "version": 1}}}},
        {"steps": {"a": {"type": "node", "workflow": {"artifact_id": "a", "version": 1}}}},
    ],
)
def test_a_plan_that_names_no_child_has_none(body: dict[str, Any]) -> None:
    assert list(child_references(body)) == []


def test_everything_below_is_reached_once_also_around_a_circle() -> None:
    there = catalog(a=plan("a", ("b", 1), ("c", 1)), b=plan("b", ("a", 1), ("gone", 3)), c=plan("c", ("b", 1)))
    assert reach(ref("a"), there.get) == {**there, ref("gone", 3): None}


def test_a_deployment_needs_everything_below_it() -> None:
    there = catalog(notes=plan("x", ("a", 1)), a=plan())
    require_reachable(deployment(), there.get)
    del there[ref("a")]
    with pytest.raises(ArtifactNotFound) as missing:
        require_reachable(deployment(), there.get)
    assert (missing.value.artifact_id, missing.value.version) == ("a", 1)


def test_a_version_in_use_names_every_deployment_that_needs_it() -> None:
    there = catalog(notes=plan("x", ("a", 1)), a=plan(), b=plan())
    deployments = [deployment("z", "notes"), deployment("y", "a"), deployment("x", "b")]
    with pytest.raises(ArtifactInUse) as refused:
        require_unused([ref("a")], deployments, there.get)
    assert refused.value.used_by == ("y", "z")
    require_unused([ref("a", 2), ref("other")], deployments, there.get)
