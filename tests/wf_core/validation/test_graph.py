"""The graph that routes make."""

from typing import Any

from wf_core.validation.graph import MAX_LOOPS, Escape, build_graph


def step(*targets: str) -> dict[str, Any]:
    return {"type": "join", "routes": {f"to_{target}": target for target in targets}}


def loop(body: str, done: str, alias: str = "item") -> dict[str, Any]:
    return {"type": "foreach", "as": alias, "routes": {"loop": body, "done": done}}


def test_a_step_belongs_to_the_loops_around_it() -> None:
    steps = {
        "outer": loop("inner", "after"),
        "inner": loop("deep", "tail"),
        "deep": step("__end__"),
        "tail": step("__end__"),
        "after": step("__end__"),
    }
    graph = build_graph(steps, "outer")
    assert graph.loops == {
        "outer": (),
        "inner": ("outer",),
        "deep": ("outer", "inner"),
        "tail": ("outer",),
        "after": (),
    }
    assert graph.escapes == []
    assert graph.bodies() == {"outer": ["inner", "deep", "tail"], "inner": ["deep"]}


def test_a_context_has_the_items_of_every_loop_around() -> None:
    steps = {
        "outer": loop("inner", "__end__", "row"),
        "inner": loop("deep", "__end__", "cell"),
        "deep": step("__end__"),
    }
    graph = build_graph(steps, "outer")
    assert graph.context_names("deep") == {"row", "row_index", "cell", "cell_index"}
    assert graph.context_names("inner") == {"row", "row_index"}


def test_a_route_out_of_a_body_or_back_to_the_loop_escapes() -> None:
    steps = {
        "each": loop("body", "after"),
        "body": step("after", "each", "more"),
        "more": step("__end__"),
        "after": step(),
    }
    assert build_graph(steps, "each").escapes == [
        Escape("body", ("routes", "to_after"), "after", "each", entering=False),
        Escape("body", ("routes", "to_each"), "each", "each", entering=False),
    ]


def test_a_body_that_is_reached_from_outside_escapes_at_its_loop() -> None:
    steps = {"each": loop("body", "body"), "body": step("__end__")}
    assert build_graph(steps, "each").escapes == [Escape("each", ("routes", "loop"), "body", "each", entering=True)]


def test_the_body_of_one_loop_is_outside_of_another() -> None:
    steps = {
        "one": loop("body", "two"),
        "two": loop("other", "__end__"),
        "body": step("__end__"),
        "other": step("body"),
    }
    assert build_graph(steps, "one").escapes == [Escape("other", ("routes", "to_body"), "body", "two", entering=False)]


def test_steps_that_nothing_leads_to_are_not_reachable_and_still_have_loops() -> None:
    steps = {"body": step("__end__"), "lost": loop("body", "__end__"), "one": step("__end__")}
    graph = build_graph(steps, "one")
    assert graph.reachable == {"one"}
    assert graph.loops["body"] == ("lost",)


def test_without_a_start_nothing_is_reachable_and_loops_are_known() -> None:
    for start in (None, "nowhere"):
        graph = build_graph({"each": loop("body", "__end__"), "body": step("__end__")}, start)
        assert graph.reachable == set()
        assert graph.loops["body"] == ("each",)


def test_unreachable_steps_that_lead_to_each_other_are_assigned_too() -> None:
    graph = build_graph({"one": step("__end__"), "a": step("b"), "b": step("a")}, "one")
    assert set(graph.loops) == {"one", "a", "b"}


def test_a_frame_can_end_where_some_route_leads_to_an_end() -> None:
    steps = {
        "one": step("two", "circle"),
        "two": {"type": "end"},
        "circle": step("round"),
        "round": step("circle"),
        "each": loop("stuck", "two"),
        "stuck": step("stuck"),
        "break": step("__break__"),
    }
    assert build_graph(steps, "one").ending() == {"one", "two", "each", "break"}


def test_what_cannot_be_read_as_a_step_has_no_routes() -> None:
    graph = build_graph(
        {"one": 5, "two": {"routes": []}, "three": {"routes": {"ok": 1, "no": "one"}, "as": 5}}, "three"
    )
    assert graph.reachable == {"three", "one"}
    assert graph.vertices["three"].routes == {"no": "one"}


def test_bodies_are_followed_into_a_bounded_number_of_loops() -> None:
    steps = {f"l{index}": loop(f"l{index + 1}", "__end__") for index in range(MAX_LOOPS + 1)}
    graph = build_graph({**steps, f"l{MAX_LOOPS + 1}": step("__end__")}, "l0")
    assert graph.too_deep == [f"l{MAX_LOOPS}"]


def parallel(done: str = "__end__", **branches: str) -> dict[str, Any]:
    return {"type": "parallel", "branches": branches, "routes": {"done": done}}


def test_each_branch_is_a_body_by_the_name_of_its_step_and_its_own() -> None:
    steps = {
        "each": loop("both", "__end__", "row"),
        "both": parallel("tail", l="left", r="__end__"),
        "left": step("more"),
        "more": step("__end__"),
        "tail": step("__end__"),
    }
    graph = build_graph(steps, "each")
    assert graph.loops["more"] == ("each", "both.l")
    assert graph.loops["tail"] == ("each",)
    assert graph.bodies()["both.l"] == ["left", "more"]
    assert graph.context_names("more") == {"row", "row_index"}
    assert (graph.may_break("tail"), graph.may_break("more")) == (True, False)
    assert graph.reachable == steps.keys()


def test_a_step_that_two_branches_lead_to_belongs_to_the_first_and_escapes_from_the_other() -> None:
    steps = {
        "both": parallel(l="left", r="right"),
        "left": step("more"),
        "right": step("more"),
        "more": step("__end__"),
    }
    assert build_graph(steps, "both").escapes == [
        Escape("right", ("routes", "to_more"), "more", "both.r", entering=False)
    ]


def test_a_branch_that_another_leads_into_escapes_at_its_step() -> None:
    steps = {"both": parallel(l="left", r="right"), "left": step("right"), "right": step("__end__")}
    assert build_graph(steps, "both").escapes == [Escape("both", ("branches", "r"), "right", "both.r", entering=True)]


def test_branches_of_a_step_that_is_no_parallel_step_lead_nowhere() -> None:
    graph = build_graph({"one": {"type": "join", "branches": {"a": "two"}}, "two": step("__end__")}, "one")
    assert graph.reachable == {"one"}
