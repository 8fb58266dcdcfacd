"""What a session is pinned to of its agent, and what blocks it afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.listed import Listed
from tests.wf_mcp.scripted import ScriptedSource, echo, opened
from wf_core.calls.contract import Contract, Hints
from wf_core.sessions.models import AgentSnapshot
from wf_mcp.app import App
from wf_mcp.config import Config
from wf_mcp.config.agents import AgentNotFound, read_agent
from wf_mcp.config.load import parse_config
from wf_mcp.execution import agents
from wf_mcp.execution.agents import agent_folder, pin_agent, readiness
from wf_mcp.execution.pins import Readiness

pytestmark = pytest.mark.anyio

TEXT: dict[str, Any] = {"type": "string"}
NOTED = Contract(
    input_schema={"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    output_schema={"type": "object", "properties": {"noted": TEXT}},
    hints=Hints(read_only=True, idempotent=True, destructive=False),
)


def source(contract: Contract = NOTED) -> ScriptedSource:
    made = ScriptedSource("ops")
    made.acts = {"note": made.acts["echo"]}
    made.contracts = {"note": contract}
    return made


async def pinned(app: App, **origin: Any) -> AgentSnapshot:
    document = {"slug": "helper", "model": "scripted:a.json", "tools": ["ops.*"], "systemPrompt": "Be brief."}
    pin = await pin_agent(app.registry, read_agent(document, name="a"), origin=origin)
    assert pin.snapshot is not None
    return pin.snapshot


async def after(contract: Contract) -> Readiness:
    """Pin an agent, change its tool's contract, and look again."""
    ops = source()
    async with opened(ops) as app:
        snapshot = await pinned(app)
        ops.contracts = {"note": contract}
        return await readiness(snapshot, app.registry, app.config)


def inputs(**properties: Any) -> Contract:
    return Contract({**NOTED.input_schema, "properties": properties}, NOTED.output_schema, hints=NOTED.hints)  # type: ignore[dict-item]


async def test_an_agent_is_pinned_with_everything_that_its_file_says() -> None:
    async with opened(source()) as app:
        snapshot = await pinned(app, file="/a/helper.agent.json")
    assert (snapshot.slug, snapshot.model, snapshot.system_prompt) == ("helper", "scripted:a.json", "Be brief.")
    assert [(tool.name, tool.capability) for tool in snapshot.tools] == [("note", "ops.note")]
    assert snapshot.origin == {"file": "/a/helper.agent.json"}


async def test_an_agent_with_a_tool_that_there_is_not_cannot_be_started() -> None:
    agent = read_agent({"slug": "helper", "model": "x:y", "tools": ["ops.note", "files.*"]}, name="a")
    async with opened(source()) as app:
        pin = await pin_agent(app.registry, agent, origin={})
    assert pin.snapshot is None
    assert [issue.path for issue in pin.issues] == ["/tools/1"]


async def test_an_agent_whose_tools_are_as_they_were_is_ready() -> None:
    ready = await after(NOTED)
    assert (ready.ready, ready.issues) == (True, ())


async def test_a_session_goes_on_by_what_its_sources_offer_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "BURST_SECONDS", 0)
    ops = Listed("ops", acts={"note": echo}, contracts={"note": NOTED})
    async with opened(ops) as app:
        snapshot = await pinned(app)
        ops.contracts = {"note": inputs(text={"type": "integer"})}
        assert not (await readiness(snapshot, app.registry, app.config)).ready


async def test_another_description_is_no_change() -> None:
    ready = await after(inputs(text={**TEXT, "description": "What to note."}))
    assert ready.issues == ()


@pytest.mark.parametrize(
    "changed",
    [
        inputs(text={"type": "integer"}),
        inputs(other=TEXT),
        Contract({**NOTED.input_schema, "required": ["text", "by"]}, NOTED.output_schema),  # type: ignore[dict-item]
        Contract(NOTED.input_schema, NOTED.output_schema, ("ok", "refused")),
    ],
    ids=["type", "gone", "required", "outcome"],
)
async def test_a_tool_that_is_not_what_the_model_was_told_of_blocks(changed: Contract) -> None:
    ready = await after(changed)
    assert [(issue.severity, issue.code) for issue in ready.issues] == [("error", "contract_changed")]
    assert "ops.note" in ready.issues[0].message


@pytest.mark.parametrize(
    "changed",
    [inputs(text=TEXT, more=TEXT), Contract(NOTED.input_schema, {"type": "object"}, hints=NOTED.hints)],
    ids=["optional input", "output"],
)
async def test_a_change_that_no_model_relies_on_is_a_warning(changed: Contract) -> None:
    ready = await after(changed)
    assert ready.ready
    assert [(issue.severity, issue.code) for issue in ready.issues] == [("warning", "contract_changed")]


async def test_of_two_sets_of_hints_the_more_cautious_one_counts() -> None:
    ready = await after(Contract(NOTED.input_schema, NOTED.output_schema))
    assert ready.issues == ()
    assert not ready.contracts["ops.note"].hints.repeatable


async def test_a_tool_that_is_gone_or_switched_off_blocks_and_is_named() -> None:
    ops = source()
    async with opened(ops) as app:
        snapshot = await pinned(app)
        ops.acts = {"noted": ops.acts["note"]}
        gone = await readiness(snapshot, app.registry, app.config)
        ops.enabled = False
        off = await readiness(snapshot, app.registry, app.config)
    async with opened() as app:
        nowhere = await readiness(snapshot, app.registry, app.config)
    assert [found.issues[0].code for found in (gone, off, nowhere)] == [
        "capability_not_found", "source_disabled", "source_not_found",
    ]  # fmt: skip
    assert all("ops.note" in found.issues[0].message and not found.ready for found in (gone, off, nowhere))


async def test_an_agent_that_is_gone_or_renamed_blocks_and_is_named(tmp_path: Path) -> None:
    file = tmp_path / "helper.agent.json"
    document = {"slug": "helper", "model": "other:model"}
    config = parse_config(b'{"agents": {"helper": {"file": "helper.agent.json"}}}').at(None, tmp_path)
    async with opened(source()) as app:
        by_slug, by_file = await pinned(app, config="helper"), await pinned(app, file=str(file))

        async def look(snapshot: AgentSnapshot, config: Config = config) -> list[tuple[str, str]]:
            found = await readiness(snapshot, app.registry, config)
            return [(issue.severity, issue.code) for issue in found.issues]

        gone = [("error", "agent_not_found")]
        assert (await look(by_slug), await look(by_file)) == (gone, gone)
        file.write_text(json.dumps(document))
        assert (await look(by_slug), await look(by_file)) == ([], [])
        assert (await look(by_slug, Config()), await look(by_file, Config())) == (gone, [])
        file.write_text(json.dumps({**document, "slug": "assistant"}))
        assert (await look(by_slug), await look(by_file)) == (gone, gone)
        file.write_text("{")
        assert await look(by_slug) == [("warning", "invalid_agent")]


async def test_paths_in_an_agent_are_relative_to_its_file(tmp_path: Path) -> None:
    config = parse_config(b'{"agents": {"helper": {"file": "agents/helper.agent.json"}}}').at(None, tmp_path)
    async with opened(source()) as app:
        assert agent_folder(await pinned(app, config="helper"), config) == tmp_path / "agents"
        assert agent_folder(await pinned(app, file="/a/b/helper.agent.json"), config) == Path("/a/b")
        assert agent_folder(await pinned(app, folder="/c"), config) == Path("/c")
        assert agent_folder(await pinned(app), config) == tmp_path
        with pytest.raises(AgentNotFound):
            agent_folder(await pinned(app, config="gone"), config)
