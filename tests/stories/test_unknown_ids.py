"""Ids that name nothing, and ids that are none: each has its code, and names what the caller may have meant."""

from typing import Any

import pytest

from tests.stories.plans import ask, plan
from tests.stories.workplace import Server, Workplace

pytestmark = pytest.mark.anyio

QUESTION = plan("publish_note", ask=ask())


def names(error: dict[str, Any], known: str) -> bool:
    return known in f"{error['message']} {error['hint']}"


async def test_an_unknown_artifact_names_the_close_one(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        for tool in ("inspect_artifact", "delete_artifact"):
            error = await server.refuse(tool, artifact_id="publish_nite")
            assert error["code"] == "artifact_not_found"
            assert names(error, "publish_note")
        error = await server.refuse("create_deployment", deployment_id="again", artifact_id="publish_nite")
        assert error["code"] == "artifact_not_found"


async def test_an_unknown_version_is_an_unknown_artifact(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        error = await server.refuse("inspect_artifact", artifact_id="publish_note", version=2)
    assert error["code"] == "artifact_not_found"


async def test_an_unknown_deployment_names_the_close_one(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        for tool in ("run_deployment", "inspect_deployment", "delete_deployment"):
            error = await server.refuse(tool, deployment_id="publish-note")
            assert error["code"] == "deployment_not_found"
            assert names(error, "publish_note")


async def test_an_unknown_run_names_the_close_one(workplace: Workplace) -> None:
    async with workplace.server() as server:
        run_id = (await server.run(await server.deploy(QUESTION)))["run_id"]
        mistyped = run_id[:-1] + ("0" if run_id[-1] != "0" else "1")
        for tool in ("inspect_run", "resume_run", "validate_run", "read_run_trace", "cancel_run"):
            error = await server.refuse(tool, run_id=mistyped)
            assert error["code"] == "run_not_found"
            assert names(error, run_id)


async def test_an_unknown_capability_names_the_close_one(workplace: Workplace) -> None:
    async with workplace.server() as server:
        error = await server.refuse("inspect_capability", name="wf.std.constnat")
        assert error["code"] == "capability_not_found"
        assert names(error, "wf.std.constant")
        error = await server.refuse("call_capability", name="nowhere.at_all", input={})
        assert error["code"] == "capability_not_found"


async def test_what_cannot_be_an_id_never_becomes_a_file_name(workplace: Workplace) -> None:
    async with workplace.server() as server:
        await server.deploy(QUESTION)
        outside = set(workplace.folder.iterdir())
        for odd in ("../x", "..", "a/b", "/etc/passwd", "", "a b", ".hidden", "x\u0000y", "é", "x" * 129):
            assert await refused_ids(server, odd) == {
                "save_artifact": "invalid_argument",
                "inspect_artifact": "invalid_argument",
                "create_deployment": "invalid_argument",
                "run_deployment": "invalid_argument",
                "inspect_run": "run_not_found",
                "cancel_run": "run_not_found",
            }
        assert set(workplace.folder.iterdir()) == outside


async def refused_ids(server: Server, odd: str) -> dict[str, str]:
    """Offer the odd id wherever an id is taken; give the code of each refusal."""
    attempts: dict[str, dict[str, Any]] = {
        "save_artifact": {"artifact_id": odd, "plan": QUESTION},
        "inspect_artifact": {"artifact_id": odd},
        "create_deployment": {"deployment_id": odd, "artifact_id": "publish_note"},
        "run_deployment": {"deployment_id": odd},
        "inspect_run": {"run_id": odd},
        "cancel_run": {"run_id": odd},
    }
    return {tool: (await server.refuse(tool, **arguments))["code"] for tool, arguments in attempts.items()}
