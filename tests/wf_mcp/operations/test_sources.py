"""Looking at sources, and calling what they offer."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource, echo, failing, opened
from wf_artifacts.errors import InvalidCursor
from wf_core.calls.contract import Contract, Hints
from wf_core.errors import InvalidInput
from wf_core.jsonvalue import JsonValue
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.operations import sources
from wf_mcp.operations.sources import (
    call_capability,
    check_source,
    inspect_capability,
    list_capabilities,
    list_sources,
)
from wf_mcp.sources.protocol import CallFailed, CallResult, CapabilityNotFound, SourceNotFound

pytestmark = pytest.mark.anyio

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def test_capabilities_are_listed_by_name_page_by_page_with_their_hints() -> None:
    source = ScriptedSource(
        acts={"read": echo, "write": echo}, contracts={"read": Contract(hints=Hints(True, True, False))}
    )
    async with opened(source, ScriptedSource("desk")) as app:
        first = await list_capabilities(app, limit=2)
        rest = await list_capabilities(app, cursor=first.next_cursor, limit=100)
        with pytest.raises(InvalidCursor):
            await list_capabilities(app, query="read", cursor=first.next_cursor)
    names = [row.name for row in first.capabilities + rest.capabilities]
    assert names == sorted(names)
    assert names[:3] == ["desk.echo", "ops.read", "ops.write"]
    assert first.capabilities[1].hints.model_dump() == {"read_only": True, "idempotent": True, "destructive": False}
    assert rest.next_cursor is None


async def test_a_query_narrows_by_words_and_a_source_by_its_name() -> None:
    async with opened(ScriptedSource()) as app:
        joined = await list_capabilities(app, query="TEXT join")
        mine = await list_capabilities(app, source="ops")
        with pytest.raises(SourceNotFound):
            await list_capabilities(app, source="opps")
    assert [row.name for row in joined.capabilities] == ["wf.std.join_text"]
    assert [row.name for row in mine.capabilities] == ["ops.echo"]


async def test_a_source_that_is_slow_or_off_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ScriptedSource):
        async def capabilities(self) -> Any:
            await anyio.sleep_forever()

    monkeypatch.setattr(sources, "LIST_SECONDS", 0.01)
    async with opened(ScriptedSource(), ScriptedSource("off", enabled=False), Slow("slow")) as app:
        with anyio.fail_after(5):
            listed = await list_capabilities(app, query="echo")
    assert [row.name for row in listed.capabilities] == ["ops.echo"]
    assert ["'slow'" in one.message for one in listed.diagnostics] == [True]


async def test_a_capability_is_shown_with_its_whole_contract() -> None:
    source = ScriptedSource(contracts={"echo": Contract(TEXT, TEXT, ("ok", "error"))})
    async with opened(source) as app:
        shown = await inspect_capability(app, name="ops.echo")
        with pytest.raises(CapabilityNotFound) as missing:
            await inspect_capability(app, name="ops.eco")
    assert (shown.input_schema, shown.output_schema, shown.outcomes) == (TEXT, TEXT, ["ok", "error"])
    assert shown.digest.startswith("sha256:")
    assert "ops.echo" in (missing.value.hint or "")


async def test_a_call_gives_outcome_and_output() -> None:
    async def judge(given: dict[str, Any]) -> Any:
        return CallResult("rejected", {"limit": 100})

    source = ScriptedSource(acts={"judge": judge}, contracts={"judge": Contract(outcomes=("ok", "rejected"))})
    async with opened(source) as app:
        answer = await call_capability(app, name="ops.judge", input={"amount": 500})
        plain = await call_capability(app, name="wf.std.constant", input={"value": 10**30})
    assert (answer.outcome, answer.output) == ("rejected", {"limit": 100})
    assert plain.output == {"value": 10**30}


@pytest.mark.parametrize("given", [{"text": 5}, {}, ["text"], {"text": float("nan")}])
async def test_input_that_does_not_fit_is_refused_and_nothing_is_called(given: Any) -> None:
    source = ScriptedSource(contracts={"echo": Contract(TEXT)})
    async with opened(source) as app:
        with pytest.raises(InvalidInput):
            await call_capability(app, name="ops.echo", input=given)
    assert source.calls == []


async def test_a_result_that_breaks_the_contract_is_refused() -> None:
    async def odd(given: dict[str, Any]) -> Any:
        return CallResult("maybe", {})

    source = ScriptedSource(acts={"echo": echo, "odd": odd}, contracts={"echo": Contract({}, TEXT)})
    async with opened(source) as app:
        for name in ("ops.echo", "ops.odd"):
            with pytest.raises(CallFailed) as refused:
                await call_capability(app, name=name, input={"n": 1})
            assert (refused.value.code, refused.value.executed) == ("output_invalid", True)


async def test_an_error_outcome_need_not_fit_the_output_schema() -> None:
    async def fails(given: dict[str, Any]) -> Any:
        return CallResult("error", {"message": "no"})

    contract = Contract({}, TEXT, ("ok", "error"))
    async with opened(ScriptedSource(acts={"fails": fails}, contracts={"fails": contract})) as app:
        assert (await call_capability(app, name="ops.fails")).outcome == "error"


async def test_a_failure_comes_back_with_what_is_known_of_it() -> None:
    async with opened(ScriptedSource(acts={"bad": failing("closed", "not today", executed=False)})) as app:
        with pytest.raises(CallFailed) as failed:
            await call_capability(app, name="ops.bad")
    assert (failed.value.code, failed.value.executed) == ("closed", False)


async def test_a_result_longer_than_the_bound_is_refused() -> None:
    async def talk(given: dict[str, Any]) -> JsonValue:
        return {"text": "x" * 200}

    async with opened(ScriptedSource(acts={"talk": talk}), max_bytes=100) as app:
        with pytest.raises(TooLarge):
            await call_capability(app, name="ops.talk")


async def test_a_wait_of_a_run_cannot_be_called_by_itself() -> None:
    async with opened() as app:
        with pytest.raises(InvalidArgument):
            await call_capability(app, name="wf.std.sleep", input={"seconds": 1})


async def test_sources_are_listed_without_being_asked() -> None:
    source = ScriptedSource(state="idle", kind="mcp")
    async with opened(source) as app:
        listed = await list_sources(app)
    assert {row.name: (row.kind, row.status) for row in listed.sources}["ops"] == ("mcp", "idle")
    assert source.asked == 0


async def test_checking_a_source_asks_it() -> None:
    source = ScriptedSource()
    async with opened(source) as app:
        checked = await check_source(app, source="ops")
        with pytest.raises(SourceNotFound):
            await check_source(app, source="opps")
    assert (checked.available, checked.capabilities) == (True, ["ops.echo"])
    assert source.asked == 1
