"""What a run is pinned to, and whether that is still what the sources offer."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from tests.wf_mcp.execution.listed import Listed
from tests.wf_mcp.scripted import (
    ScriptedSource,
    artifact,
    child,
    deployment,
    echo,
    environment,
    node,
    opened,
    plan,
    save,
)
from wf_artifacts.catalog.models import Artifact, Durability
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.stores import open_stores
from wf_core.calls.contract import Contract, Hints
from wf_core.ids import ArtifactId, DeploymentId
from wf_mcp.app import App
from wf_mcp.execution import pins

pytestmark = pytest.mark.anyio

NOTED = Contract(
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    output_schema={"type": "object", "properties": {"noted": {"type": "string"}}, "required": ["noted"]},
)
PLAN = plan(
    {"go": node("ops.note", input={"text": {"value": "x"}}, output={"state.noted": "noted"})},
    state_schema={"properties": {"noted": {}}},
)


def source(name: str = "ops", **more: Any) -> ScriptedSource:
    made = ScriptedSource(name, **more)
    made.acts = {"note": made.acts["echo"]}
    made.contracts = {"note": NOTED}
    return made


async def pin(app: App, document: dict[str, Any] = PLAN, **bindings: str) -> pins.Pinned:
    return await pins.pin(
        app.registry, app.stores.catalog, artifact=artifact(document), deployment=deployment(**bindings)
    )


async def test_a_logical_name_means_what_the_deployment_binds_it_to() -> None:
    namesake, bound = source("ops"), source("desk")
    async with opened(namesake, bound) as app:
        pinned = await pin(app, ops="desk")
    assert pinned.environment is not None
    assert pinned.environment.capabilities["ops.note"].source == "desk"
    assert namesake.asked == 0


async def test_a_name_without_a_binding_means_its_namesake() -> None:
    async with opened(source()) as app:
        pinned = await pin(app)
    assert pinned.environment is not None
    assert pinned.environment.capabilities["ops.note"].contract == NOTED
    assert pinned.issues == ()


@pytest.mark.parametrize(
    ("sources", "code"),
    [
        ([], "source_not_found"),
        ([ScriptedSource("ops")], "capability_not_found"),
        ([source(enabled=False)], "source_disabled"),
    ],
)
async def test_what_is_missing_is_an_issue_and_there_is_no_environment(sources: list[Any], code: str) -> None:
    async with opened(*sources) as app:
        pinned = await pin(app)
    assert pinned.environment is None
    assert [(issue.severity, issue.code) for issue in pinned.issues] == [("error", code)]
    assert "ops.note" in pinned.issues[0].message


async def test_a_plan_that_does_not_fit_the_live_contract_cannot_be_pinned() -> None:
    desk = source()
    desk.contracts = {"note": Contract(input_schema={"type": "object", "required": ["other"]})}
    async with opened(desk) as app:
        pinned = await pin(app)
    assert pinned.environment is None
    assert "missing_capability_input" in [issue.code for issue in pinned.issues]


async def test_a_source_that_takes_too_long_keeps_the_plan_from_being_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "PIN_SECONDS", 0.01)

    class Slow(ScriptedSource):
        async def capabilities(self) -> Any:
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        async with opened(Slow()) as app:
            pinned = await pin(app)
    assert [issue.code for issue in pinned.issues] == ["source_unavailable"]


async def test_who_waits_for_as_long_as_it_takes_hears_what_the_sources_offer_now() -> None:
    desk = Listed("ops", acts={"note": echo}, contracts={"note": NOTED})
    async with opened(desk) as app:
        pinned = (await pin(app)).environment
        assert pinned is not None
        wanted = pins.names(pinned)
        del desk.acts["note"]
        assert pins.readiness(pinned, await pins.ask(app.registry, wanted, seconds=5)).ready
        assert pins.readiness(pinned, await pins.known(app.registry, wanted)).ready
        assert not pins.readiness(pinned, await pins.ask(app.registry, wanted)).ready


async def test_a_binding_of_a_name_that_the_plan_does_not_use_is_a_warning() -> None:
    async with opened(source("desk")) as app:
        pinned = await pin(app, ops="desk", opps="desk")
    assert pinned.environment is not None
    [issue] = pinned.issues
    assert (issue.severity, issue.code) == ("warning", "unused_binding")
    assert "'opps'" in issue.message


async def test_a_rule_that_is_for_no_step_is_a_warning() -> None:
    """A slip in the rule of an approval would let the call through unapproved, and nobody would be told."""
    asks = {"tag": "defer", "reason": "a person looks", "approval": True}
    policy = {"rules": [{"tool": tool, "disposition": asks} for tool in ("ops.note", "not*", "*.note", "ops.nota")]}
    bound = deployment().model_copy(update={"call_policy": policy})
    async with opened(source()) as app:
        pinned = await pins.pin(app.registry, app.stores.catalog, artifact=artifact(PLAN), deployment=bound)
    assert pinned.environment is not None
    [issue] = pinned.issues
    assert (issue.severity, issue.code) == ("warning", "unused_rule")
    assert "'ops.nota'" in issue.message


# What is deployed


async def deploy(app: App, *, durability: Durability = "steps", **bindings: str) -> None:
    deployed = deployment(**bindings).model_copy(update={"durability": durability})
    await app.stores.catalog.save_deployment(deployed, replace=True)


async def pinned_now(app: App) -> PinnedEnvironment:
    """Pin what is deployed, as a start does."""
    definition = await app.stores.catalog.load_definition(DeploymentId("flow"))
    pinned = await pins.pin_definition(app.registry, app.stores.catalog, definition)
    assert pinned.environment is not None, pinned.issues
    return pinned.environment


async def test_what_is_deployed_is_pinned_to_one_environment_while_it_and_the_contracts_are_the_same() -> None:
    async with opened(source()) as app:
        await save(app, "leaf", PLAN)
        flow = await save(app, "flow", plan({"run": child("leaf")}))
        await deploy(app)
        first = await pinned_now(app)
        assert await pinned_now(app) is first
        assert first == await environment_of(app, flow)


async def environment_of(app: App, saved: Artifact) -> PinnedEnvironment | None:
    pinned = await pins.pin(app.registry, app.stores.catalog, artifact=saved, deployment=deployment())
    return pinned.environment


async def test_whatever_changes_is_pinned_as_it_is_now() -> None:
    """Each change is noticed at the next start, also what does not matter to the plan."""
    desk, other = source(), source("desk")
    async with opened(desk, other) as app:
        await save(app, "flow", PLAN)
        await deploy(app)
        seen = [await pinned_now(app)]
        await deploy(app, durability="stops")
        seen.append(await pinned_now(app))
        await deploy(app, ops="desk")
        seen.append(await pinned_now(app))
        titled = {**cast("dict[str, Any]", NOTED.input_schema), "title": "What is noted"}
        for contract in (
            Contract(titled, NOTED.output_schema),
            Contract(titled, NOTED.output_schema, hints=Hints(read_only=True)),
            Contract({**titled, "examples": [1]}, NOTED.output_schema),
            Contract({**titled, "examples": [True]}, NOTED.output_schema),
            Contract({**titled, "examples": [1.0]}, NOTED.output_schema),
        ):
            other.contracts = {"note": contract}
            seen.append(await pinned_now(app))
            assert seen[-1].capabilities["ops.note"].contract is contract
        await save(app, "flow", plan(PLAN["steps"], state_schema=PLAN["state_schema"], description="Notes."))
        newest = deployment(ops="desk").model_copy(update={"artifact_version": 2})
        await app.stores.catalog.save_deployment(newest, replace=True)
        seen.append(await pinned_now(app))
    assert len({id(one) for one in seen}) == len(seen) == 9
    assert [one.deployment.durability for one in seen[:3]] == ["steps", "stops", "steps"]
    assert [one.capabilities["ops.note"].source for one in seen[:3]] == ["ops", "ops", "desk"]
    assert (seen[-1].artifact.version, seen[-1].artifact.plan["description"]) == (2, "Notes.")


async def test_a_child_that_is_gone_keeps_what_is_deployed_from_being_pinned(tmp_path: Path) -> None:
    async with opened(source(), stores=open_stores(tmp_path.as_uri())) as app:
        await save(app, "leaf", PLAN)
        await save(app, "flow", plan({"run": child("leaf")}))
        await deploy(app)
        await pinned_now(app)
        shutil.rmtree(tmp_path / "artifacts" / "leaf")
        definition = await app.stores.catalog.load_definition(DeploymentId("flow"))
        pinned = await pins.pin_definition(app.registry, app.stores.catalog, definition)
    assert pinned.environment is None
    assert [issue.code for issue in pinned.issues] == ["unknown_child_artifact"]


# Children


async def test_every_child_is_pinned_and_the_bindings_hold_at_any_depth() -> None:
    namesake, bound = source("ops"), source("desk")
    async with opened(namesake, bound) as app:
        leaf = await save(app, "leaf", PLAN)
        middle = await save(app, "middle", plan({"run": child("leaf")}))
        pinned = await pin(app, plan({"run": child("middle")}), ops="desk")
    assert pinned.issues == ()
    assert pinned.environment is not None
    assert pinned.environment.children == (middle, leaf)
    assert {name: one.source for name, one in pinned.environment.capabilities.items()} == {"ops.note": "desk"}


async def test_a_child_that_is_gone_keeps_the_plan_from_being_pinned() -> None:
    async with opened(source()) as app:
        await save(app, "leaf", PLAN)
        await save(app, "middle", plan({"run": child("leaf")}))
        await app.stores.catalog.delete_artifact(ArtifactId("leaf"))
        pinned = await pin(app, plan({"run": child("middle")}))
    assert pinned.environment is None
    [issue] = pinned.issues
    assert (issue.code, issue.path) == ("unknown_child_artifact", "/steps/run/workflow/version")


async def test_a_child_that_does_not_fit_the_live_contract_is_named() -> None:
    desk = source()
    async with opened(desk) as app:
        await save(app, "leaf", PLAN)
        desk.contracts = {"note": Contract(input_schema={"type": "object", "required": ["other"]})}
        pinned = await pin(app, plan({"run": child("leaf")}))
    assert pinned.environment is None
    [issue] = pinned.issues
    assert (issue.code, issue.path) == ("missing_capability_input", "")
    assert issue.message.startswith("In leaf 1 at /steps/go: ")


async def test_a_contract_that_changed_in_what_a_child_uses_is_an_error_that_names_the_child() -> None:
    desk = source()
    async with opened(desk) as app:
        await save(app, "leaf", PLAN)
        pinned = await environment(app, plan({"run": child("leaf")}))
        desk.contracts = {"note": Contract({"type": "object", "required": ["priority"]}, NOTED.output_schema)}
        readiness = pins.readiness(pinned, await pins.ask(app.registry, pins.names(pinned)))
    assert {issue.code for issue in readiness.errors} == {"contract_changed"}
    assert all("In leaf 1 at /steps/go/input: " in issue.message for issue in readiness.errors)


@pytest.mark.parametrize(("placed", "step"), [(False, "go"), (True, "steps.go")])
async def test_a_changed_contract_is_told_with_its_capability_and_its_step(placed: bool, step: str) -> None:
    """Of a plan with many steps nobody could know otherwise what to restore."""
    desk = source()
    document = plan({"steps": {"type": "subgraph", "workflow": {"plan": PLAN}, "routes": {"ok": "__end__"}}})
    async with opened(desk) as app:
        pinned = await environment(app, document if placed else PLAN)
        desk.contracts = {"note": replace(NOTED, input_schema={"type": "object", "required": ["priority"]})}
        readiness = pins.readiness(pinned, await pins.ask(app.registry, pins.names(pinned)))
    told = f"ops.note, which the step `{step}` calls"
    assert {issue.message.partition(": ")[0] for issue in readiness.errors} == {told}


# Names that hold dots


async def test_a_capability_whose_own_name_holds_dots_is_pinned() -> None:
    up = ScriptedSource("up", acts={"fs.read": echo})
    document = plan({"go": node({"source": "up", "capability": "fs.read"})})
    async with opened(up) as app:
        pinned = await pin(app, document)
    assert pinned.environment is not None
    [one] = pinned.environment.capabilities.values()
    assert (one.source, one.name) == ("up", "fs.read")


async def test_a_text_that_is_split_at_the_wrong_dot_is_told_how_to_keep_the_two_apart() -> None:
    up = ScriptedSource("up", acts={"fs.read": echo})
    async with opened(up) as app:
        pinned = await pin(app, plan({"go": node("up.fs.read")}))
    [issue] = pinned.issues
    assert issue.code == "source_not_found"
    assert '{"source": "up", "capability": "fs.read"}' in str(issue.hint)


async def test_two_capabilities_of_one_name_are_not_taken_for_each_other() -> None:
    document = plan({"one": node({"source": "up", "capability": "fs.read"}, "two"), "two": node("up.fs.read")})
    async with opened(
        ScriptedSource("up", acts={"fs.read": echo}), ScriptedSource("up.fs", acts={"read": echo})
    ) as app:
        pinned = await pin(app, document)
    assert pinned.environment is None
    assert [issue.code for issue in pinned.issues] == ["ambiguous_capability"]


# Whether a pin still holds


async def readiness_after(change: Contract | None) -> pins.Readiness:
    """Pin a plan, change what the source offers, and look."""
    desk = source()
    async with opened(desk) as app:
        pinned = await environment(app, PLAN)
        if change is None:
            del desk.acts["note"]
        else:
            desk.contracts = {"note": change}
        return pins.readiness(pinned, await pins.ask(app.registry, pins.names(pinned)))


async def test_nothing_is_said_of_a_contract_that_is_the_same() -> None:
    readiness = await readiness_after(NOTED)
    assert (readiness.ready, readiness.issues) == (True, ())


async def test_a_change_that_touches_nothing_is_a_warning_and_the_live_schema_counts() -> None:
    live = Contract(NOTED.input_schema, {"type": "object", "properties": {"noted": {"type": "string"}, "at": {}},
                                         "required": ["noted"]})  # fmt: skip
    readiness = await readiness_after(live)
    assert readiness.ready
    assert [issue.severity for issue in readiness.issues] == ["warning"]
    assert readiness.contracts["ops.note"].output_schema == live.output_schema


async def test_the_more_cautious_hints_count_although_hints_are_no_drift() -> None:
    readiness = await readiness_after(Contract(NOTED.input_schema, NOTED.output_schema, hints=Hints(True, True, False)))
    assert readiness.issues == ()
    assert readiness.contracts["ops.note"].hints == Hints()


@pytest.mark.parametrize(
    ("change", "code"),
    [(Contract({"type": "object", "required": ["priority"]}), "contract_changed"), (None, "capability_not_found")],
)
async def test_a_change_that_touches_the_plan_or_a_loss_is_an_error(change: Contract | None, code: str) -> None:
    readiness = await readiness_after(change)
    assert not readiness.ready
    assert {issue.code for issue in readiness.errors} == {code}


async def known_of(far: ScriptedSource) -> tuple[PinnedEnvironment, pins.Found]:
    async with opened(far) as app:
        pinned = await environment(app, PLAN)
        far.asked = 0
        return pinned, await pins.known(app.registry, pins.names(pinned))


async def test_looking_at_what_is_known_connects_no_upstream_server() -> None:
    far = source(kind="mcp", state="idle")
    pinned, found = await known_of(far)
    assert far.asked == 0
    readiness = pins.readiness(pinned, found)
    assert readiness.ready
    assert [issue.code for issue in readiness.issues] == ["source_not_checked"]


async def test_looking_at_what_is_known_asks_a_server_that_is_connected() -> None:
    far = source(kind="mcp", state="ready")
    pinned, found = await known_of(far)
    assert pins.readiness(pinned, found).issues == ()


async def test_sources_are_asked_at_the_same_time() -> None:
    """Each waits for the other to be asked: one after the other they would never answer."""
    both = anyio.Event()
    asked: list[str] = []

    class Meeting(ScriptedSource):
        async def capabilities(self) -> Any:
            asked.append(self.name)
            if len(asked) == 2:
                both.set()
            await both.wait()
            return await super().capabilities()

    async with opened(Meeting("a"), Meeting("b")) as app:
        with anyio.fail_after(5):
            found = await pins.ask(app.registry, [("a", "echo"), ("b", "echo")])
    assert set(found) == {("a", "echo"), ("b", "echo")}
