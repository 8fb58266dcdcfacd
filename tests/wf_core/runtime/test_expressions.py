"""How a value is put together from paths and literals."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.wf_core.kernel import begin, error_of, finish, node, path, plan, put, value
from wf_core.errors import StepFailed
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.paths import MISSING
from wf_core.plan import Expression
from wf_core.runtime.expressions import compile_expression, compile_find, compile_object
from wf_core.runtime.views import View
from wf_core.state import Layer

READ: TypeAdapter[Expression] = TypeAdapter(Expression)
STATE: dict[str, Any] = {
    "name": "Ada",
    "rows": [{"id": 7}, {}],
    "null": None,
    "a.b": {"": 1},
    "big": 10**30,
    "obj": {"z": 1, "a": "é"},
}


def view(given: Any = None) -> View:
    return View({"items": [1, 2], "first name": "Grace"} if given is None else given, Layer(dict(STATE)))


def evaluate(expression: Any) -> Any:
    return compile_expression(READ.validate_python(expression))(view())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("state.name", "Ada"),
        ("state.rows.0.id", 7),
        ("state.rows.1", {}),
        ("input.items.1", 2),
        ('input."first name"', "Grace"),
        ('state."a.b".""', 1),
        ("input", {"items": [1, 2], "first name": "Grace"}),
        ("state", STATE),
        ("state.null", None),
    ],
)
def test_a_path_reads_what_is_there(text: str, found: Any) -> None:
    assert evaluate(path(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "state.gone",
        "state.rows.2",
        "state.rows.-1",
        "state.rows.01",
        "state.rows.id",
        "state.name.0",
        "state.null.a",
        "input.gone",
        "context.x",
    ],
)
def test_a_missing_path_is_path_not_found_naming_the_path(text: str) -> None:
    with pytest.raises(StepFailed) as caught:
        evaluate(path(text))
    assert (caught.value.code, caught.value.details) == ("path_not_found", {"path": text})
    assert text in caught.value.message


def test_the_error_of_a_missing_path_names_the_step() -> None:
    run = finish(plan({"say": node(input={"value": path("state.gone")})}, {"gone": {}}))
    assert error_of(run) == ("path_not_found", "say")


def test_a_path_into_an_input_that_is_no_object_leads_nowhere() -> None:
    assert compile_find("input.items")(view([1])) is MISSING
    assert compile_find("input.0")(view([1])) == 1


def test_a_default_stands_in_for_what_is_missing_also_a_default_of_null() -> None:
    assert evaluate({"path": "state.gone", "default": 3}) == 3
    assert evaluate({"path": "state.gone", "default": None}) is None


def test_a_default_does_not_stand_in_for_an_explicit_null() -> None:
    assert evaluate({"path": "state.null", "default": 3}) is None


@pytest.mark.parametrize("literal", [None, 0, {"path": "state.name"}, "{{state.name}}", [{"value": 1}], 10**30])
def test_a_value_is_itself_whatever_it_looks_like(literal: Any) -> None:
    assert evaluate(value(literal)) == literal


def test_objects_and_arrays_are_built_from_expressions() -> None:
    expression: Any = {
        "object": {"a": {"array": [path("state.name"), value(None)]}, "b": {"object": {}}, "c": {"array": []}}
    }
    assert evaluate(expression) == {"a": ["Ada", None], "b": {}, "c": []}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Hello {{state.name}}!", "Hello Ada!"),
        ("{{state.name}}{{state.name}}", "AdaAda"),
        ("", ""),
        ("no }} braces", "no }} braces"),
        ('{{"{{"}}state.name}}', "{{state.name}}"),
        ("{{state.null}}|{{state.rows.0.id}}|{{state.big}}", f"null|7|{10**30}"),
        ("{{state.obj}}", '{"z":1,"a":"é"}'),
        ("{{input.items}}", "[1,2]"),
        ('{{input."first name"}}', "Grace"),
    ],
)
def test_in_a_template_text_lands_as_it_is_and_anything_else_as_compact_json(template: str, text: str) -> None:
    assert evaluate({"template": template}) == text


def test_a_template_with_a_missing_path_is_path_not_found() -> None:
    with pytest.raises(StepFailed) as caught:
        evaluate({"template": "{{state.gone}}"})
    assert caught.value.code == "path_not_found"


def test_a_map_of_targets_builds_one_object() -> None:
    entries = {
        name: READ.validate_python(each) for name, each in {"a.b": value(1), "a.c": value(2), '"a.b"': value(3)}.items()
    }
    assert compile_object(entries, "input_invalid")(view()) == {"a": {"b": 1, "c": 2}, "a.b": 3}


def test_the_target_dot_is_the_whole_payload() -> None:
    build = compile_object({".": READ.validate_python(path("state.name"))}, "input_invalid")
    assert build(view()) == "Ada"


def nested(levels: int, inside: Any) -> Any:
    for _ in range(levels):
        inside = [inside]
    return inside


@pytest.mark.parametrize(
    "targets",
    [
        {"deep": {"array": [{"array": [path("input")]}]}},
        {"deep": {"object": {"a": {"object": {"b": path("input")}}}}},
        {"a.b.c": path("input")},
    ],
)
def test_what_nests_too_deeply_to_be_stored_fails_with_the_code_of_its_place(targets: Any) -> None:
    entries = {name: READ.validate_python(each) for name, each in targets.items()}
    build = compile_object(entries, "request_invalid")
    assert build(view(nested(MAX_DEPTH - 10, 1)))
    with pytest.raises(StepFailed) as caught:
        build(view(nested(MAX_DEPTH - 1, 1)))
    assert caught.value.code == "request_invalid"


# Whoever receives a value may keep it: what is written to state later does not change it.


def test_a_value_taken_from_state_does_not_grow_with_it() -> None:
    state: Any = {"log": {"type": "array", "default": [], "reducer": "append"}}
    steps = {
        "one": put("state.log", value(1), "two"),
        "two": put("state.log", path("state.log"), "three"),
        "three": node(input={"whole": path("state"), "array": {"array": [path("state.log")]}}, to="four"),
        "four": put("state.log", value(4), "five"),
        "five": put("state.log", value(5)),
    }
    drive = begin(plan(steps, state, output={"log": path("state.log")}))
    assert drive.go().output == {"log": [1, [1], 4, 5]}
    assert drive.inputs[1] == {"value": [1]}
    assert drive.inputs[2] == {"whole": {"log": [1, [1]]}, "array": [[1, [1]]]}


def test_a_literal_of_the_plan_does_not_grow_with_the_state_it_was_written_to() -> None:
    literal: list[Any] = ["x"]
    state: Any = {
        "log": {"type": "array", "reducer": "append"},
        "o": {"type": "object", "properties": {"l": {"reducer": "append"}}},
    }
    steps = {
        "put": node(input={"value": value(literal)}, output={"state.log": "value"}, to="again"),
        "again": put("state.log", value(2), "deep"),
        "deep": put("state.o.l", value(1)),
    }
    document = plan(steps, state, initial_state={"state.log": {"value": literal}, "state.o": {"value": {"l": literal}}})
    document["state_schema"]["properties"]["log"]["reducer"] = "append"
    drive = begin(document)
    drive.go()
    again = begin(document)
    again.program = drive.program
    assert literal == ["x"]
    assert again.go().scopes[0].layer.whole() == drive.run.scopes[0].layer.whole()


def test_a_default_of_the_state_schema_is_not_shared_between_runs_of_one_program() -> None:
    state: Any = {"log": {"type": "array", "default": ["x"], "reducer": "append"}}
    document = plan({"one": put("state.log", value(1), "two"), "two": put("state.log", value(2))}, state)
    first = begin(document)
    first.go()
    second = begin(document)
    assert first.program.shape.defaults == {"log": ["x"]}
    assert second.run.scopes[0].layer.whole() == {"log": ["x"]}


def test_an_input_does_not_grow_with_the_state_it_was_written_to() -> None:
    given = {"items": [1]}
    steps = {"one": put("state.log", value(2), "two"), "two": put("state.log", value(3))}
    state: Any = {"log": {"type": "array", "reducer": "append"}}
    document = plan(steps, state, initial_state={"state.log": path("input.items")}, output={"log": path("state.log")})
    assert finish(document, given).output == {"log": [1, 2, 3]}
    assert given == {"items": [1]}


def test_a_result_does_not_grow_with_the_state_it_was_written_to() -> None:
    result: Any = {"value": [1], "whole": {"list": [1]}}

    def it(_: Any) -> Any:
        return result

    state: Any = {
        "log": {"type": "array", "reducer": "replace"},
        "more": {"type": "array", "reducer": "append", "default": []},
    }
    state["o"] = {"type": "object", "properties": {"list": {"type": "array", "reducer": "append"}}}
    steps = {
        "one": node("t.it", output={"state.o": "whole", "state.more": "value"}, to="two"),
        "two": put("state.o.list", value(2), "three"),
        "three": put("state.o.list", value(3)),
    }
    run = finish(plan(steps, state, output={"o": path("state.o")}), fakes={"t.it": it})
    assert run.output == {"o": {"list": [1, 2, 3]}}
    assert result == {"value": [1], "whole": {"list": [1]}}
