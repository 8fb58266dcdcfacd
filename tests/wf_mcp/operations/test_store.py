"""What an operator asks of the store as a whole."""

from pathlib import Path

import pytest

from tests.wf_mcp.desk import desk, waiting
from tests.wf_mcp.scripted import node, opened, plan
from wf_artifacts.stores import open_stores
from wf_core.ids import SessionId
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.runs import run_deployment
from wf_mcp.operations.store import examine_store

pytestmark = pytest.mark.anyio


async def test_what_is_repaired_is_told_apart_from_what_is_left(tmp_path: Path) -> None:
    async with opened(stores=open_stores(tmp_path.as_uri())) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"now": node("wf.std.now")}))
        await create_deployment(app, deployment_id="flow", artifact_id="flow")
        await run_deployment(app, deployment_id="flow")
        assert (await examine_store(app)).left == []

        (tmp_path / "runs" / "strange").write_text("none of ours", encoding="utf-8")
        (tmp_path / "artifacts" / "flow" / "000001.json").unlink()
        found = await examine_store(app)
        repaired = await examine_store(app, repair=True)

    assert found.repaired == []
    assert {(finding.document, finding.kind) for finding in found.left} == {
        ("runs/strange", "unknown"),
        ("deployments/flow.json", "orphaned"),
    }
    assert [finding.document for finding in repaired.repaired] == ["runs/strange"]
    assert [finding.document for finding in repaired.left] == ["deployments/flow.json"]
    assert (tmp_path / "lost+found" / "runs" / "strange").read_text(encoding="utf-8") == "none of ours"


async def test_a_session_whose_events_cannot_be_followed_is_named_and_left(tmp_path: Path) -> None:
    async with desk(tmp_path).open() as app:
        damaged, sound = await waiting(app), await waiting(app)
        assert damaged.session_id is not None
        sessions, session_id = app.stores.sessions, SessionId(damaged.session_id)
        stored = await sessions.load(session_id)
        first, *rest = stored.events
        await sessions.delete(session_id)
        events = [first.replace(b'"', b"'"), *rest]
        await (await sessions.create(stored.record, stored.header, events)).release()
        report = await examine_store(app, repair=True)
        assert (await sessions.load(session_id)).events == events
    assert sound.session_id is not None
    assert [(one.document, one.kind, one.repair) for one in report.left] == [
        (f"sessions/{damaged.session_id}", "damaged", None)
    ]
    assert "events[0]" in report.left[0].problem
