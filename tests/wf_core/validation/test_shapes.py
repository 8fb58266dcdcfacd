"""Faults of shape in the plan's own words."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, condition, errors, issues, node, plan


def only(document: Document) -> tuple[str, str, str, str | None]:
    """Give the one issue of a plan."""
    (issue,) = issues(document)
    return issue.code, issue.path, issue.message, issue.hint


def with_step(**fields: Any) -> Document:
    return plan(steps={"one": node(**fields)})


def test_unknown_key_names_the_nearest_known_one() -> None:
    assert only(plan(ouput={})) == (
        "unknown_key",
        "/ouput",
        "`ouput` is no key of this object.",
        "Did you mean `output`?",
    )
    assert only(with_step(rotues={}))[1:4:2] == ("/steps/one/rotues", "Did you mean `routes`?")
    assert only(with_step(retry={"max_atempts": 1}))[1:4:2] == (
        "/steps/one/retry/max_atempts",
        "Did you mean `max_attempts`?",
    )


def test_unknown_key_in_an_expression_names_the_kind_that_was_meant() -> None:
    assert only(with_step(input={"value": {"pth": "input.x"}})) == (
        "unknown_key",
        "/steps/one/input/value/pth",
        "`pth` is no key of an expression.",
        "Did you mean `path`?",
    )


def test_unknown_key_where_an_expression_is_two_at_once() -> None:
    code, path, message, _ = only(with_step(input={"value": {"path": "input.x", "value": 1}}))
    assert (code, path) == ("unknown_key", "/steps/one/input/value/value")
    assert "exactly one" in message


@pytest.mark.parametrize("bare", ["input.name", 5, True, None])
def test_invalid_type_of_a_bare_value_shows_both_spellings(bare: object) -> None:
    code, path, _, hint = only(with_step(input={"value": bare}))
    assert (code, path) == ("invalid_type", "/steps/one/input/value")
    assert hint is not None
    assert '{"path": ' in hint
    assert '{"value": ' in hint


def test_a_bare_text_is_offered_as_a_path_and_as_a_literal() -> None:
    hint = only(with_step(input={"value": "input.name"}))[3]
    assert hint == 'Write {"path": "input.name"} to read what is there, or {"value": "input.name"} for the literal.'


@pytest.mark.parametrize(("bare", "spelling"), [({"a": 1}, '{"object": '), ({}, '{"object": '), ([1], '{"array": ')])
def test_a_bare_container_is_offered_as_an_expression_and_as_a_literal(bare: object, spelling: str) -> None:
    hint = only(with_step(input={"value": bare}))[3]
    assert hint is not None
    assert spelling in hint
    assert '{"value": ' in hint


def test_missing_key_is_reported_where_it_should_stand() -> None:
    check = {"op": "not", "arg": {"op": "eq", "left": {"value": 1}}}
    assert only(plan(steps={"one": condition(check)}))[:3] == (
        "missing_key",
        "/steps/one/check/arg",
        "`right` is missing.",
    )


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("name", 1, "/name"),
        ("outcomes", "ok", "/outcomes"),
        ("outcomes", [], "/outcomes"),
        ("input_schema", [], "/input_schema"),
        ("limits", {"max_steps": "many"}, "/limits/max_steps"),
        ("limits", {"max_steps": 0}, "/limits/max_steps"),
        ("limits", None, "/limits"),
        ("output", [], "/output"),
    ],
)
def test_invalid_type_in_a_field_of_the_plan(field: str, value: object, path: str) -> None:
    assert errors(plan(**{field: value})) == [("invalid_type", path)]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"use": "constant"}, "/use"),
        ({"use": 1}, "/use"),
        ({"routes": {"ok": 1}}, "/routes/ok"),
        ({"routes": []}, "/routes"),
        ({"input": []}, "/input"),
        ({"output": {"state.a": 1}}, "/output/state.a"),
        ({"retry": {"on": "always"}}, "/retry/on"),
        ({"retry": {"backoff": 10**400}}, "/retry/backoff"),
        ({"timeout_seconds": 0}, "/timeout_seconds"),
        ({"input": {"value": {"array": {"value": 1}}}}, "/input/value/array"),
        ({"input": {"value": {"object": {"array": {"template": 1}}}}}, "/input/value/object/array/template"),
    ],
)
def test_invalid_type_in_a_field_of_a_step(fields: Document, path: str) -> None:
    assert errors(with_step(**fields)) == [("invalid_type", f"/steps/one{path}")]


def test_invalid_type_says_what_was_expected_and_what_is_there() -> None:
    assert only(plan(name=["x"]))[2] == "Expected a text, found an array."
    assert only(plan(limits={"max_steps": 1.5}))[2] == "Expected a whole number, found 1.5."


def test_an_unknown_operator_names_the_nearest_one() -> None:
    check = {"op": "exist", "path": "state.a"}
    code, path, message, hint = only(plan(steps={"one": condition(check), "two": node()}, start="two"))
    assert (code, path, message) == ("invalid_type", "/steps/one/check/op", '"exist" is no operator.')
    assert hint == "Did you mean `exists`?"


@pytest.mark.parametrize(
    ("check", "code", "path"),
    [
        ("state.a", "invalid_type", ""),
        ({"left": {"value": 1}}, "missing_key", ""),
        ({"op": 5}, "invalid_type", "/op"),
        ({"op": "and", "and": [], "args": [{"op": "or"}]}, "unknown_key", "/and"),
    ],
)
def test_a_check_that_is_no_condition(check: object, code: str, path: str) -> None:
    assert (code, f"/steps/one/check{path}") in errors(plan(steps={"one": condition(check)}))


def test_a_place_is_told_from_keys_that_look_like_the_kinds_of_expressions() -> None:
    """The author's own keys may be called `object` and `path`, in any order."""
    expression = {"object": {"path": 5, "object": {"object": {"path": {"path": 1}}}}}
    assert errors(with_step(input={"value": expression})) == [
        ("invalid_type", "/steps/one/input/value/object/path"),
        ("invalid_type", "/steps/one/input/value/object/object/object/path/path"),
    ]


def test_an_unreadable_entry_hides_nothing_of_the_other_entries() -> None:
    step = node(input={"bad": 1, "value": {"path": "nowhere"}}, output={"state.b": 1, "state.c": "value"})
    assert set(errors(plan(steps={"one": step}))) == {
        ("invalid_type", "/steps/one/input/bad"),
        ("invalid_type", "/steps/one/output/state.b"),
        ("invalid_path", "/steps/one/input/value/path"),
        ("unknown_state_field", "/steps/one/output/state.b"),
        ("unknown_state_field", "/steps/one/output/state.c"),
    }
