"""What a start would refuse now."""

import json
from pathlib import Path

import pytest

from tests.documents import resealed
from tests.wf_mcp.scripted import node, opened, plan
from wf_artifacts.stores import open_stores
from wf_mcp.app import App
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.refusals import refusals

pytestmark = pytest.mark.anyio


async def refused(app: App) -> list[tuple[str, list[str]]]:
    return [(one.name, [found.code for found in one.diagnostics]) async for one in refusals(app)]


async def test_a_deployment_is_judged_as_its_start_would(tmp_path: Path) -> None:
    async with opened(stores=open_stores(tmp_path.as_uri())) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"now": node("wf.std.now")}))
        for name, bindings in (("sound", {}), ("absent", {"wf.std": "nowhere"}), ("policy", {})):
            await create_deployment(
                app,
                deployment_id=name,
                artifact_id="flow",
                bindings=bindings,
                call_policy={"rules": [{"tool": "now", "disposition": {"tag": "runSync"}}]},
            )
        assert await refused(app) == [("deployment absent", ["source_not_found"])]

        file = tmp_path / "deployments" / "policy.json"
        file.write_bytes(resealed(file.read_bytes().replace(b"runSync", b"runSinc")))
        assert await refused(app) == [
            ("deployment absent", ["source_not_found"]),
            ("deployment policy", ["invalid_policy"]),
        ]

        (tmp_path / "artifacts" / "flow" / "000001.json").unlink()
        assert await refused(app) == []  # the store tells it


async def test_an_agent_is_judged_as_its_start_would(tmp_path: Path) -> None:
    agents = {slug: {"file": f"{slug}.json"} for slug in ("sound", "gone", "policy", "tools")}
    (tmp_path / "wf.json").write_text(json.dumps({"agents": agents}))
    more: dict[str, dict[str, object]] = {
        "sound": {},
        "policy": {"toolCallPolicyConfig": {"rulez": []}},
        "tools": {"tools": ["wf.std.nothing"]},
    }
    for slug, fields in more.items():
        (tmp_path / f"{slug}.json").write_text(json.dumps({"slug": slug, "model": "scripted:x.json", **fields}))
    async with App.open(tmp_path / "home", cwd=tmp_path) as app:
        assert await refused(app) == [
            ("agent gone", ["agent_not_found"]),
            ("agent policy", ["invalid_agent"]),
            ("agent tools", ["capability_not_found"]),
        ]
