"""What a plan reads and writes."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, ask, each, errors, issues, node, plan
from wf_core.validation.bindings import MAX_NESTING


def reads(path: str, **fields: Any) -> list[tuple[str, str]]:
    """Give the errors of a plan whose one step reads a path."""
    return errors(plan(steps={"one": node(input={"value": {"path": path}})}, **fields))


def writes(path: str, **fields: Any) -> list[tuple[str, str]]:
    """Give the errors of a plan whose one step writes a path."""
    return errors(plan(steps={"one": node(output={path: "value"})}, **fields))


READ = "/steps/one/input/value/path"


@pytest.mark.parametrize(
    "path",
    [
        "input",
        "state",
        "context",
        "input.x.0",
        'input."first name"',
        "state.a.b.c",
        "context.run_id",
        "context.attempt",
    ],
)
def test_a_path_into_input_state_or_context_is_read(path: str) -> None:
    assert reads(path) == []


@pytest.mark.parametrize(
    "path",
    ["", "stat.a", "state.", ".a", "state..a", "state.a b", 'state."a', "context.item", "context.run_id.x", "output.a"],
)
def test_invalid_path_that_is_read(path: str) -> None:
    assert reads(path) == [("invalid_path", READ)]


@pytest.mark.parametrize("path", ["state", "input.a", "context.run_id", "a", "", "state.a."])
def test_invalid_path_that_is_written(path: str) -> None:
    assert writes(path) == [("invalid_path", f"/steps/one/output/{path}")]


def test_invalid_path_that_writes_into_an_array() -> None:
    schema: Document = {"properties": {"a": {}, "rows": {"type": "array"}}}
    assert writes("state.rows.0", state_schema=schema) == [("invalid_path", "/steps/one/output/state.rows.0")]
    assert writes("state.rows", state_schema=schema) == []


def test_invalid_path_of_a_source_and_of_a_local_target() -> None:
    step = node(input={"a..b": {"value": 1}}, output={"state.a": "", "state.a.x": {"source": "x.", "optional": True}})
    found = errors(plan(steps={"one": step}))
    assert ("invalid_path", "/steps/one/input/a..b") in found
    assert ("invalid_path", "/steps/one/output/state.a") in found
    assert ("invalid_path", "/steps/one/output/state.a.x/source") in found


def test_the_whole_payload_is_a_path() -> None:
    assert errors(plan(steps={"one": node(input={".": {"path": "input"}}, output={"state.a": "."})})) == []


@pytest.mark.parametrize("template", ["{{input.x", "{{ input.x }}", "{{}}", "{{x}}", "{{input.x}"])
def test_invalid_template(template: str) -> None:
    document = plan(steps={"one": node(input={"value": {"template": template}})})
    assert errors(document) == [("invalid_template", "/steps/one/input/value/template")]


def test_the_paths_of_a_template_are_checked() -> None:
    document = plan(steps={"one": node(input={"value": {"template": 'a {{state.b}} {{"{{"}} }} {{state.a}}'}})})
    assert errors(document) == [("unknown_state_field", "/steps/one/input/value/template")]


def test_unknown_input_field() -> None:
    closed: Document = {"properties": {"name": {}}, "additionalProperties": False}
    assert reads("input.nmae", input_schema=closed) == [("unknown_input_field", READ)]
    assert reads("input.name.first", input_schema=closed) == []
    assert reads("input.nmae", input_schema={"properties": {"name": {}}}) == []


def test_unknown_state_field_that_is_read_or_written() -> None:
    assert reads("state.b") == [("unknown_state_field", READ)]
    assert writes("state.b.c") == [("unknown_state_field", "/steps/one/output/state.b.c")]


def test_unknown_state_field_also_where_a_default_is_given() -> None:
    document = plan(steps={"one": node(input={"value": {"path": "state.b", "default": 1}})})
    assert errors(document) == [("unknown_state_field", READ)]


def test_unknown_state_field_below_the_first_level_only_where_it_is_closed() -> None:
    closed: Document = {"properties": {"a": {"properties": {"x": {}}, "additionalProperties": False}}}
    assert reads("state.a.y", state_schema=closed) == [("unknown_state_field", READ)]
    assert reads("state.a.y", state_schema={"properties": {"a": {"properties": {"x": {}}}}}) == []


def test_an_unknown_field_names_the_nearest_declared_one() -> None:
    schema: Document = {"properties": {"a": {}, "comments": {}}}
    document = plan(state_schema=schema, steps={"one": node(input={"value": {"path": "state.coments"}})})
    assert next(issue.hint for issue in issues(document)) == "Did you mean `comments`?"


def test_every_part_of_an_expression_is_checked() -> None:
    expression = {"object": {"k": {"array": [{"value": {"path": "nowhere"}}, {"path": "nowhere"}]}}}
    assert errors(plan(steps={"one": node(input={"value": expression})})) == [
        ("invalid_path", "/steps/one/input/value/object/k/array/1/path")
    ]


def nested(levels: int) -> Document:
    expression: Document = {"value": 1}
    for _ in range(levels - 1):
        expression = {"array": [expression]}
    return expression


def test_invalid_type_of_expressions_that_nest_too_deeply() -> None:
    allowed = plan(steps={"one": node(input={"value": nested(MAX_NESTING)})})
    assert errors(allowed) == []
    refused = plan(steps={"one": node(input={"value": nested(MAX_NESTING + 1)})})
    assert [code for code, _ in errors(refused)] == ["invalid_type"]


def test_duplicate_target_in_two_spellings() -> None:
    document = plan(steps={"one": node(output={"state.a": "x", 'state."a"': "y"})})
    assert errors(document) == [("duplicate_target", '/steps/one/output/state."a"')]
    document = plan(steps={"one": node(input={"a.b": {"value": 1}, 'a."b"': {"value": 1}})})
    assert errors(document) == [("duplicate_target", '/steps/one/input/a."b"')]


@pytest.mark.parametrize(("first", "second"), [("state.a", "state.a.b.c"), ("state.a.b.c", "state.a")])
def test_overlapping_targets_whichever_comes_first(first: str, second: str) -> None:
    document = plan(steps={"one": node(output={first: "x", second: "y"})})
    assert errors(document) == [("overlapping_targets", f"/steps/one/output/{second}")]


def test_overlapping_targets_with_the_whole_payload() -> None:
    document = plan(steps={"one": node(input={"x": {"value": 1}, ".": {"value": {}}})})
    assert errors(document) == [("overlapping_targets", "/steps/one/input/.")]


def test_targets_beside_each_other_do_not_overlap() -> None:
    document = plan(steps={"one": node(output={"state.a.b": "x", "state.a.bc": "y", "state.a.c": "z"})})
    assert errors(document) == []


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"initial_state": {"state.a": {"value": 1}, "state.a.b": {"value": 1}}}, "/initial_state/state.a.b"),
        ({"output": {"a": {"value": 1}, "a.b": {"value": 1}}}, "/output/a.b"),
        ({"steps": {"one": ask(request={"a": {"value": 1}, "a.b": {"value": 1}})}}, "/steps/one/request/a.b"),
        ({"steps": {"one": ask(resume={"state.a": "x", "state.a.b": "y"})}}, "/steps/one/resume/state.a.b"),
        (
            {"steps": {"one": node(error_output={"state.a": "x", "state.a.b": "y"})}},
            "/steps/one/error_output/state.a.b",
        ),
    ],
)
def test_overlapping_targets_in_every_map(fields: Document, place: str) -> None:
    assert errors(plan(**fields)) == [("overlapping_targets", place)]


def test_initial_state_is_made_from_input_alone() -> None:
    assert errors(plan(initial_state={"state.a": {"path": "input.x"}})) == []
    for path in ("state.a", "context.run_id"):
        assert errors(plan(initial_state={"state.a": {"path": path}})) == [
            ("invalid_path", "/initial_state/state.a/path")
        ]


def test_the_item_of_a_loop_is_read_inside_of_it_and_not_outside() -> None:
    def steps(after: str) -> Document:
        body = node(input={"value": {"path": "context.item.x"}, "index": {"path": "context.item_index"}})
        return {
            "loop": each(routes={"loop": "body", "done": "after"}),
            "body": body,
            "after": node(input={"value": {"path": after}}),
        }

    assert errors(plan(start="loop", steps=steps("input.x"))) == []
    assert errors(plan(start="loop", steps=steps("context.item"))) == [
        ("invalid_path", "/steps/after/input/value/path")
    ]


def test_an_inner_loop_reads_the_items_of_both() -> None:
    body = node(input={"value": {"array": [{"path": "context.row"}, {"path": "context.cell"}]}})
    outer = each(**{"as": "row"}, routes={"loop": "inner", "done": "__end__"})
    inner = each(**{"as": "cell"}, over="context.row.cells")
    assert errors(plan(start="outer", steps={"outer": outer, "inner": inner, "body": body})) == []
