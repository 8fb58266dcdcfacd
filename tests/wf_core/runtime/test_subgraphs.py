"""Child workflows: what they see, what comes back, and what their end means to the step that runs them."""

from typing import Any

import pytest

from tests.wf_core.kernel import LIST, ask, begin, child, each, error_of, finish, loop, node, path, plan, put, value

GREET = plan(
    {"say": put("state.text", {"template": "Hello {{input.name}}"})},
    {"text": {"type": "string"}},
    input_schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    output_schema={"type": "object", "properties": {"text": {"type": "string"}}},
)


def greeting(**more: Any) -> dict[str, Any]:
    step = child(GREET, input={"name": path("input.who")}, output={"state.greeting": "text"}, **more)
    return plan({"sub": step}, {"greeting": {}, "text": value("mine")}, output={"state": path("state")})


def test_the_child_has_its_own_input_and_state_and_only_what_output_maps_comes_back() -> None:
    document = greeting()
    document["state_schema"]["properties"]["text"] = {"default": "mine"}
    assert finish(document, {"who": "Ada"}).output == {"state": {"text": "mine", "greeting": "Hello Ada"}}


def test_a_saved_child_is_the_version_that_is_named() -> None:
    other = {**GREET, "steps": {"say": put("state.text", value("Bye"))}}
    step = {
        **child({}, input={"name": path("input.who")}, output={"state.greeting": "text"}),
        "workflow": {"artifact_id": "greet", "version": 1},
    }
    document = plan({"sub": step}, {"greeting": {}}, output={"greeting": path("state.greeting")})
    run = finish(document, {"who": "Ada"}, children={("greet", 1): GREET, ("greet", 2): other})
    assert run.output == {"greeting": "Hello Ada"}


def test_routes_are_by_the_childs_outcomes() -> None:
    inner = plan({"big": {"type": "end", "outcome": "large"}}, outcomes=["large", "small"])
    steps = {
        "sub": {**child(inner), "routes": {"large": "big", "small": "__end__"}},
        "big": {"type": "end", "outcome": "big"},
    }
    assert finish(plan(steps, outcomes=["ok", "big"])).outcome == "big"


def test_an_input_that_does_not_fit_the_childs_schema_is_input_invalid_at_the_step() -> None:
    assert error_of(finish(greeting(), {"who": 3})) == ("input_invalid", "sub")


def test_initial_state_that_cannot_be_built_fails_the_step_that_runs_the_child() -> None:
    inner = plan({"say": node()}, {"text": {}}, initial_state={"state.text": path("input.gone")})
    assert error_of(finish(plan({"sub": child(inner)}))) == ("path_not_found", "sub")


def test_a_failing_child_fails_the_run_with_the_innermost_step_and_the_whole_path() -> None:
    inner = plan({"say": node(input={"value": path("input.gone")})})
    drive = begin(plan({"outer": child(plan({"inner": child(inner)}))}))
    run = drive.go()
    assert error_of(run) == ("path_not_found", "say")
    assert run.error is not None
    assert run.error.path == ("outer", "inner", "say")
    assert [(one["path"], one["error"]["step_id"]) for one in drive.trace] == [
        (["outer", "inner", "say"], "say"),
        (["outer", "inner"], "say"),
        (["outer"], "say"),
    ]


def test_a_childs_output_that_does_not_fit_its_schema_is_the_failure_of_its_step() -> None:
    inner = plan({"say": node()}, output={"text": value(3)}, output_schema=GREET["output_schema"])
    run = finish(plan({"sub": child(inner)}))
    assert error_of(run) == ("output_invalid", "sub")
    assert run.error is not None
    assert run.error.path == ("sub",)


def test_an_output_that_the_child_did_not_give_is_path_not_found() -> None:
    step = child(plan({"say": node()}), output={"state.greeting": "text"})
    assert error_of(finish(plan({"sub": step}, {"greeting": {}}))) == ("path_not_found", "sub")


def test_a_childs_interrupt_reaches_the_outside_with_its_path_and_its_answer_goes_back_in() -> None:
    inner = plan(
        {"ask": ask(request={"q": path("input.q")}, resume={"state.reply": "."})},
        {"reply": {}},
        output={"reply": path("state.reply")},
    )
    step = child(inner, input={"q": path("input.q")}, output={"state.answer": "reply"})
    drive = begin(plan({"sub": step}, {"answer": {}}, output={"answer": path("state.answer")}), {"q": "why?"})
    drive.go()
    (question,) = drive.run.interrupts.values()
    assert (question.step_id, question.path, question.payload) == ("ask", ("sub", "ask"), {"q": "why?"})
    drive.answer("because")
    assert drive.go().output == {"answer": "because"}


@pytest.mark.parametrize("kind", [loop, each])
@pytest.mark.parametrize("reloading", [False, True])
def test_a_child_with_a_loop_of_children_runs_inside_an_item_of_a_loop(kind: Any, reloading: bool) -> None:
    """Scopes and lineages alternate: each child starts over a state of its own, and gives back what it mapped."""
    leaf = plan(
        {"say": put("state.text", {"template": "{{input.a}}-{{input.b}}"})},
        {"text": {}},
        output={"text": path("state.text")},
    )
    branch = plan(
        {
            "inner": kind("leaf", over="input.row", to="also"),
            "leaf": child(
                leaf, input={"a": path("input.name"), "b": path("context.x")}, output={"state.said": "text"}, to="after"
            ),
            "after": put("state.said", value("!")),
            "also": put("state.said", path("input.name")),
        },
        {"said": LIST},
        output={"said": path("state.said")},
    )
    steps = {
        "outer": kind("branch"),
        "branch": child(
            branch,
            input={"row": path("context.x.row"), "name": path("context.x.name")},
            output={"state.all": "said"},
        ),
    }
    items: Any = [{"name": "a", "row": [1, 2]}, {"name": "b", "row": []}, {"name": "c", "row": [3]}]
    document = plan(steps, {"all": {**LIST, "reducer": "extend"}}, output={"all": path("state.all")})
    drive = begin(document, {"items": items}, reloading=reloading)
    run = drive.go(choose=lambda pending: pending[-1])
    assert run.output == {"all": ["a-1", "!", "a-2", "!", "a", "b", "c-3", "!", "c"]}
    assert list(run.scopes) == [0]


def test_a_child_does_not_see_the_context_of_the_loop_around_it() -> None:
    inner = plan({"say": node(input={"value": path("context.x")})})
    run = finish(plan({"each": loop("sub"), "sub": child(inner)}), {"items": [1]})
    assert error_of(run) == ("path_not_found", "say")


def test_a_child_that_is_run_again_starts_anew() -> None:
    inner = plan({"say": put("state.text", path("input.x"))}, {"text": LIST}, output={"text": path("state.text")})
    steps = {"each": loop("sub"), "sub": child(inner, input={"x": path("context.x")}, output={"state.all": "text"})}
    document = plan(steps, {"all": LIST}, output={"all": path("state.all")})
    assert finish(document, {"items": [1, 2]}).output == {"all": [[1], [2]]}


def test_a_child_that_nests_its_input_deeper_each_time_is_stopped_before_it_cannot_be_stored() -> None:
    inner = plan({"say": {"type": "join", "routes": {"ok": "__end__"}}}, output={"x": {"array": [path("input.x")]}})
    steps = {"sub": child(inner, "sub", input={"x": path("state.x")}, output={"state.x": "x"})}
    run = finish(plan(steps, {"x": {"default": 0}}))
    assert error_of(run) == ("output_invalid", "sub")
