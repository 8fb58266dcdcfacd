"""Where a frame goes when its step has ended."""

from functools import partial

import pytest

from tests.wf_core.kernel import END, Reply, begin, check, echo, error_of, finish, loop, node, path, plan, value
from wf_core.calls.contract import Contract


def test_each_outcome_leads_along_its_own_route() -> None:
    step = {"type": "node", "use": "t.it", "routes": {"left": "a", "right": "b"}}
    steps = {"it": step, "a": {"type": "end", "outcome": "a"}, "b": {"type": "end", "outcome": "b"}}
    for outcome, expected in (("left", "a"), ("right", "b")):
        contracts = {"t.it": Contract(outcomes=("left", "right"))}
        drive = begin(plan(steps, outcomes=["a", "b"]), fakes={"t.it": echo}, contracts=contracts)
        drive.look()
        drive.deliver(act=partial(reply, outcome))
        assert drive.go().outcome == expected


def reply(outcome: str, _: object) -> Reply:
    return Reply(outcome, {})


def test_end_of_the_workflow_without_an_end_step_is_the_outcome_ok() -> None:
    assert finish(plan({"say": node()})).outcome == "ok"


def test_an_end_step_names_the_outcome_and_its_default_is_ok() -> None:
    assert finish(plan({"stop": {"type": "end"}})).outcome == "ok"
    assert finish(plan({"stop": {"type": "end", "outcome": "no"}}, outcomes=["no"])).outcome == "no"


def test_a_join_does_nothing_and_goes_on_by_ok() -> None:
    steps = {
        "if": check({"op": "exists", "path": "input.a"}, "one", "two"),
        "one": node(to="meet"),
        "two": node(to="meet"),
        "meet": {"type": "join", "routes": {"ok": "stop"}},
        "stop": {"type": "end"},
    }
    for given in ({"a": 1}, {}):
        drive = begin(plan(steps), given)
        drive.go()
        assert [entry["step_id"] for entry in drive.trace][-2:] == ["meet", "stop"]


def test_a_finished_run_keeps_its_input_and_state_and_nothing_that_could_go_on() -> None:
    run = finish(plan({"say": node()}, {"a": {"default": 1}}), {"b": 2})
    assert (run.scopes[0].input, run.scopes[0].layer.whole()) == ({"b": 2}, {"a": 1})
    assert not any((run.frames, run.ready, run.calls, run.interrupts, run.lineages, run.delays))


@pytest.mark.parametrize("mode", ["serial", "concurrent"])
def test_the_path_of_an_error_has_the_index_of_every_item_around_it(mode: str) -> None:
    inner = plan({"in": loop("say", mode=mode), "say": node(input={"v": path("context.x.v")})})
    sub = {
        "type": "subgraph",
        "workflow": {"plan": inner},
        "input": {"items": path("context.x")},
        "routes": {"ok": END},
    }
    run = finish(plan({"out": loop("sub", mode=mode), "sub": sub}), {"items": [[{"v": 1}], [{"v": 1}, {}]]})
    assert error_of(run) == ("path_not_found", "say")
    assert run.error is not None
    assert run.error.path == ("out", "1", "sub", "in", "1", "say")


def test_an_error_record_says_everything_that_is_known() -> None:
    run = finish(plan({"say": node(input={"v": path("input.gone")})}))
    assert run.error is not None
    assert run.error.to_json() == {
        "code": "path_not_found",
        "message": "Nothing is at input.gone.",
        "step_id": "say",
        "path": ["say"],
        "attempt": 1,
        "side_effects": "none",
        "details": {"path": "input.gone"},
    }


def test_a_failed_step_ends_the_run_and_nothing_else_is_done() -> None:
    drive = begin(plan({"bad": node("t.breaks", to="more", input={"value": value("no")}), "more": node()}))
    run = drive.go()
    assert (run.status, run.outcome, run.output, len(drive.made)) == ("failed", None, None, 1)
