"""The capabilities of `wf.std`: their contracts, and what the pure ones answer."""

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue, check, equal
from wf_core.schemas import compile_schema, schema_issues
from wf_core.std.capabilities import STD


def accepts(name: str, given_input: JsonValue) -> bool:
    compiled = compile_schema(STD[name].contract.input_schema)
    assert compiled is not None
    return compiled.accepts(given_input)


def answer(name: str, **given_input: Any) -> JsonValue:
    """Call a pure capability as the kernel does: input and output fit the contract, and the input stays as it was."""
    capability = STD[name]
    assert capability.call is not None
    assert accepts(name, given_input)
    before = copy.deepcopy(given_input)
    outcome, output = capability.call(given_input)
    assert given_input == before
    assert outcome == "ok"
    check(output, "output")
    judged = compile_schema(capability.contract.output_schema)
    assert judged is not None
    assert judged.problems(output, "output") == []
    assert isinstance(output, dict)
    return output["value"]


def failure(name: str, **given_input: Any) -> tuple[str, str]:
    with pytest.raises(StepFailed) as failed:
        answer(name, **given_input)
    return failed.value.code, failed.value.message


def test_everything_promised_is_offered() -> None:
    assert set(STD) == {
        *("constant", "fail", "now", "uuid", "sleep", "length", "keys", "get", "sort", "slice"),
        *("join_text", "split_text", "parse_json", "to_json"),
    }
    assert all(name == capability.name for name, capability in STD.items())


@pytest.mark.parametrize("name", STD)
def test_contracts_are_usable_and_closed(name: str) -> None:
    capability = STD[name]
    assert schema_issues(capability.contract.input_schema) == []
    assert schema_issues(capability.contract.output_schema) == []
    assert re.fullmatch(r"[a-z_]+", name)
    assert capability.title
    assert capability.description.endswith(".")
    assert capability.contract.hints.repeatable
    assert not capability.contract.hints.destructive
    assert not accepts(name, {"unheard_of": 1})


def test_only_time_chance_and_waiting_come_from_outside() -> None:
    assert {name for name, capability in STD.items() if capability.call is None} == {"now", "uuid", "sleep"}
    assert {name for name, capability in STD.items() if capability.contract.deferred} == {"sleep"}


@given(json_values)
def test_constant_answers_what_it_was_given(value: JsonValue) -> None:
    assert equal(answer("constant", value=value), value)


@pytest.mark.parametrize(
    ("name", "given_input", "value"),
    [
        ("length", {"value": "añ🙂"}, 3),
        ("length", {"value": [1, [2, 3]]}, 2),
        ("length", {"value": {}}, 0),
        ("keys", {"value": {"b": 1, "a": 2}}, ["b", "a"]),
        ("get", {"value": {"a": {"b": 5}}, "path": "a.b"}, 5),
        ("get", {"value": [{"id": 7}], "path": "0.id"}, 7),
        ("get", {"value": {"first name": None}, "path": '"first name"', "default": 1}, None),
        ("get", {"value": {}, "path": "a", "default": None}, None),
        ("get", {"value": 3, "path": "."}, 3),
        ("sort", {"items": [3, 1.5, 2]}, [1.5, 2, 3]),
        ("sort", {"items": ["b", "a", "B", "é"], "reverse": True}, ["é", "b", "a", "B"]),
        ("sort", {"items": []}, []),
        (
            "sort",
            {"items": [{"n": 2, "x": 1}, {"n": 1}, {"n": 2, "x": 0}], "by": "n"},
            [{"n": 1}, {"n": 2, "x": 1}, {"n": 2, "x": 0}],
        ),
        ("sort", {"items": [[1, "b"], [2, "a"]], "by": "1", "reverse": False}, [[2, "a"], [1, "b"]]),
        ("slice", {"items": [1, 2, 3, 4], "start": 1, "end": 3}, [2, 3]),
        ("slice", {"items": [1, 2, 3, 4], "start": -2}, [3, 4]),
        ("slice", {"items": [1, 2, 3], "end": 2.0}, [1, 2]),
        ("slice", {"items": [1], "start": 2**70}, []),
        ("slice", {"items": [1, 2]}, [1, 2]),
        ("join_text", {"items": ["a", "b"], "separator": "-"}, "a-b"),
        ("join_text", {"items": ["a", 1, None, {"k": "é"}]}, 'a1null{"k":"é"}'),
        ("join_text", {"items": []}, ""),
        ("split_text", {"text": "a-b-", "separator": "-"}, ["a", "b", ""]),
        ("split_text", {"text": " two\nwords "}, ["two", "words"]),
        ("parse_json", {"text": '{"k": [1, null]}'}, {"k": [1, None]}),
        ("parse_json", {"text": "123456789012345678901234567890"}, 123456789012345678901234567890),
        ("to_json", {"value": {"b": [1.0, 2**64], "a": "é"}}, '{"b":[1.0,18446744073709551616],"a":"é"}'),
    ],
)
def test_pure_capabilities_answer(name: str, given_input: dict[str, JsonValue], value: JsonValue) -> None:
    assert repr(answer(name, **given_input)) == repr(value)


@pytest.mark.parametrize(
    ("name", "given_input"),
    [
        ("constant", {}),
        ("fail", {}),
        *(("fail", {"message": "x", "code": code}) for code in ("", "a\nb", "a ", "1", "a" * 65, "internal_error")),
        ("length", {"value": 3}),
        ("length", {"value": None}),
        ("keys", {"value": [1]}),
        ("get", {"value": {}}),
        ("sort", {"items": "abc"}),
        ("slice", {"items": [1], "start": 1.5}),
        ("join_text", {"items": ["a"], "separator": 1}),
        ("split_text", {"text": "abc", "separator": ""}),
        ("parse_json", {"text": 1}),
        ("sleep", {"seconds": -1}),
        ("sleep", {"seconds": "1"}),
        ("now", {"zone": "UTC"}),
    ],
)
def test_wrong_input_is_refused_by_the_contract(name: str, given_input: JsonValue) -> None:
    assert not accepts(name, given_input)


@pytest.mark.parametrize("items", [[1, "a"], [True, False], [None], [[1], [2]], [1, True]])
def test_only_numbers_or_only_texts_can_be_sorted(items: list[JsonValue]) -> None:
    assert failure("sort", items=items)[0] == "capability_error"
    code, message = failure("sort", items=[{"k": item} for item in items], by="k")
    assert code == "capability_error"
    assert "values at k" in message


def test_sorting_by_a_path_that_is_missing_fails() -> None:
    assert failure("sort", items=[{"k": 1}, {}], by="k")[0] == "capability_error"


@given(st.lists(st.integers(0, 3)), st.booleans())
def test_sorting_keeps_the_order_of_equals(keys: list[int], reverse: bool) -> None:
    items = [{"k": key, "index": index} for index, key in enumerate(keys)]
    assert answer("sort", items=items, by="k", reverse=reverse) == sorted(
        items, key=lambda item: item["k"], reverse=reverse
    )


def test_getting_what_is_not_there_fails_naming_the_path() -> None:
    assert failure("get", value={"a": 1}, path="a.b") == (
        "path_not_found",
        "There is nothing at a.b, and no default was given.",
    )


@pytest.mark.parametrize(
    ("name", "given_input"), [("get", {"value": 1, "path": "a b"}), ("sort", {"items": [], "by": ""})]
)
def test_a_text_that_is_no_path_fails(name: str, given_input: dict[str, JsonValue]) -> None:
    assert failure(name, **given_input)[0] == "invalid_path"


def test_fail_always_fails_with_its_code() -> None:
    assert failure("fail", message="not today") == ("capability_error", "not today")
    assert failure("fail", message="not today", code="closed") == ("closed", "not today")
    assert STD["fail"].contract.outcomes == ("ok", "error")


@pytest.mark.parametrize("text", ["", "{", "NaN", "1e999", r'"\ud800"', '{"a":1,"a":2}', "[" * 300 + "]" * 300])
def test_text_that_is_no_json_is_a_capability_error(text: str) -> None:
    assert failure("parse_json", text=text)[0] == "capability_error"


@given(json_values)
def test_json_text_reads_back(value: JsonValue) -> None:
    assert repr(answer("parse_json", text=answer("to_json", value=value))) == repr(value)


@given(st.lists(st.text("ab", min_size=1)))
def test_joined_text_splits_again(items: list[str]) -> None:
    assert answer("split_text", text=answer("join_text", items=items, separator=" ")) == items
