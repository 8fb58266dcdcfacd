"""Reading plans against what is known of the sources that they name."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource, node, opened, plan
from wf_mcp.operations import plans

pytestmark = pytest.mark.anyio


async def test_only_the_sources_that_a_plan_names_are_asked() -> None:
    named, other = ScriptedSource("ops"), ScriptedSource("other")
    async with opened(named, other) as app:
        report = (await plans.read(app, plan({"a": node("ops.echo"), "b": node("gone.x")}))).report
    assert report.valid
    assert (named.asked, other.asked) == (1, 0)


async def test_a_source_may_be_named_in_parts_and_in_a_plan_written_in_place() -> None:
    ops, inner = ScriptedSource("ops"), ScriptedSource("inner.one")
    child = plan({"x": node("inner.one.echo")})
    document = plan(
        {
            "a": node({"source": "ops", "capability": "echo"}, "b"),
            "b": {"type": "subgraph", "workflow": {"plan": child}, "routes": {"ok": "__end__"}},
        }
    )
    async with opened(ops, inner) as app:
        await plans.read(app, document)
    assert (ops.asked, inner.asked) == (1, 1)


async def test_a_source_that_cannot_be_asked_is_no_issue() -> None:
    async with opened(ScriptedSource(enabled=False)) as app:
        report = (await plans.read(app, plan({"a": node("ops.whatever")}))).report
    assert report.issues == []


async def test_reading_does_not_wait_for_ever_for_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ScriptedSource):
        async def capabilities(self) -> Any:
            await anyio.sleep_forever()

    monkeypatch.setattr(plans, "ASKING_SECONDS", 0.01)
    async with opened(Slow(), ScriptedSource("quick")) as app:
        with anyio.fail_after(5):
            reading = await plans.read(app, plan({"a": node("ops.x", "b"), "b": node("quick.wrong")}))
    assert [issue.code for issue in reading.report.issues] == ["unknown_capability"]


@pytest.mark.parametrize("document", [None, 5, [], {}, {"steps": [{"use": 5}, {"use": {"source": None}}]}])
async def test_whatever_is_no_plan_is_told_so(document: object) -> None:
    async with opened() as app:
        assert not (await plans.read(app, document)).report.valid
