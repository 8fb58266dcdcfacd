"""Nodes against the contracts of what they call."""

from typing import Any

from tests.wf_core.validation.plans import Document, errors, node, only_error, plan
from wf_core.calls.contract import Contract
from wf_core.validation import read_plan

MAKE = Contract(
    input_schema={"properties": {"value": {}, "more": {"properties": {"x": {}}, "additionalProperties": False}},
                  "required": ["value"], "additionalProperties": False},
    output_schema={"properties": {"value": {}}, "additionalProperties": False},
)  # fmt: skip


def check(step: Document, contract: Contract = MAKE) -> list[tuple[str, str]]:
    found = errors(plan(steps={"one": step}), contracts={"ops.make": contract})
    return [(code, path.removeprefix("/steps/one")) for code, path in found]


def test_a_node_that_keeps_to_the_contract() -> None:
    assert check(node()) == []


def test_unknown_capability_of_a_known_source_names_the_nearest_one() -> None:
    issue = only_error(plan(steps={"one": node(use="ops.maek")}), contracts={"ops.make": MAKE})
    assert (issue.code, issue.path, issue.hint) == ("unknown_capability", "/steps/one/use", "Did you mean `make`?")


def test_names_that_hold_dots_are_not_taken_apart() -> None:
    """As one text, the source `up` with `fs.read` and the source `up.fs` with `read` look the same."""
    sources = {"up": {"fs.read": MAKE}}
    for use, codes in (
        ({"source": "up", "capability": "fs.read"}, []),
        ({"source": "up", "capability": "fs.raed"}, ["unknown_capability"]),
        ("up.fs.anything", []),
    ):
        report = read_plan(plan(steps={"one": node(use=use)}), sources=sources)
        assert [issue.code for issue in report.issues] == codes


def test_a_source_of_which_nothing_is_known_may_still_be_bound() -> None:
    step = node(use="elsewhere.make", input={"valeu": {"value": 1}})
    assert errors(plan(steps={"one": step}), contracts={"ops.make": MAKE}) == []
    assert errors(plan(steps={"one": step})) == []


def test_unknown_capability_input() -> None:
    value: Any = {"value": 1}
    assert check(node(input={"value": value, "extra": value, "more.y": value})) == [
        ("unknown_capability_input", "/input/extra"),
        ("unknown_capability_input", "/input/more.y"),
    ]


def test_missing_capability_input() -> None:
    assert check(node(input={})) == [("missing_capability_input", "")]
    assert check(node(input={"value.part": {"value": 1}})) == []


def test_an_input_that_is_built_as_a_whole_may_fill_everything() -> None:
    assert check(node(input={".": {"path": "input"}})) == []


def test_unknown_capability_output() -> None:
    step = node(
        output={"state.a.x": "valeu", "state.a.y": {"source": "other", "optional": True}, "state.a.z": "value.in"}
    )
    assert check(step) == [
        ("unknown_capability_output", "/output/state.a.x"),
        ("unknown_capability_output", "/output/state.a.y"),
    ]


def test_an_open_contract_allows_every_path() -> None:
    step = node(input={"anything": {"value": 1}}, output={"state.a": "anything"})
    assert check(step, Contract()) == []


def test_missing_route_of_an_outcome_that_the_capability_has() -> None:
    contract = Contract(outcomes=("ok", "rejected"))
    assert check(node(), contract) == [("missing_route", "/routes")]


def test_the_outcome_error_may_be_left_unrouted() -> None:
    contract = Contract(outcomes=("ok", "error"))
    assert check(node(), contract) == []
    assert check(node(routes={"ok": "__end__", "error": "__end__"}), contract) == []


def test_undeclared_outcome_that_the_capability_never_has() -> None:
    assert check(node(routes={"ok": "__end__", "error": "__end__"})) == [("undeclared_outcome", "/routes/error")]
