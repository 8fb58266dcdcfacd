"""What a run is pinned to, and whether that is still what the sources offer."""

from typing import Any

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource, artifact, deployment, environment, node, opened, plan
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_core.calls.contract import Contract, Hints
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


async def test_a_logical_name_means_what_the_deployment_binds_it_to() -> None:
    namesake, bound = source("ops"), source("desk")
    async with opened(namesake, bound) as app:
        pinned = await pins.pin(app.registry, artifact=artifact(PLAN), deployment=deployment(ops="desk"))
    assert pinned.environment is not None
    assert pinned.environment.capabilities["ops.note"].source == "desk"
    assert namesake.asked == 0


async def test_a_name_without_a_binding_means_its_namesake() -> None:
    async with opened(source()) as app:
        pinned = await pins.pin(app.registry, artifact=artifact(PLAN), deployment=deployment())
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
        pinned = await pins.pin(app.registry, artifact=artifact(PLAN), deployment=deployment())
    assert pinned.environment is None
    assert [(issue.severity, issue.code) for issue in pinned.issues] == [("error", code)]
    assert "ops.note" in pinned.issues[0].message


async def test_a_plan_that_does_not_fit_the_live_contract_cannot_be_pinned() -> None:
    desk = source()
    desk.contracts = {"note": Contract(input_schema={"type": "object", "required": ["other"]})}
    async with opened(desk) as app:
        pinned = await pins.pin(app.registry, artifact=artifact(PLAN), deployment=deployment())
    assert pinned.environment is None
    assert "missing_capability_input" in [issue.code for issue in pinned.issues]


async def test_a_source_that_takes_too_long_keeps_the_plan_from_being_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "PIN_SECONDS", 0.01)

    class Slow(ScriptedSource):
        async def capabilities(self) -> Any:
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        async with opened(Slow()) as app:
            pinned = await pins.pin(app.registry, artifact=artifact(PLAN), deployment=deployment())
    assert [issue.code for issue in pinned.issues] == ["source_unavailable"]


async def test_a_binding_of_a_name_that_the_plan_does_not_use_is_a_warning() -> None:
    [issue] = pins.idle_bindings(artifact(PLAN), deployment(ops="desk", opps="desk"))
    assert (issue.severity, issue.code) == ("warning", "unused_binding")
    assert "'opps'" in issue.message


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
