"""Answers that a model can read."""

from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from wf_core.jsonvalue import size
from wf_core.schemas import compile_schema
from wf_mcp.operations.models import (
    CallAnswer,
    InterruptView,
    OpenCall,
    PendingCall,
    PendingItem,
    PendingList,
    RunErrorView,
    RunList,
    RunRow,
    RunSummary,
)
from wf_mcp.operations.session_models import SessionDetail, SessionList, SessionRow, TurnView
from wf_mcp.server import bounds
from wf_mcp.server.bounds import MOST_BYTES, fewer_rows
from wf_mcp.server.shapes import Shape, fields_of, rows_of
from wf_mcp.server.tool import WorkflowTool
from wf_mcp.server.tools import tools_of
from wf_mcp.server.toolsets import TOOLSETS

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"answer": {"type": "string"}}}


def question(number: int) -> InterruptView:
    return InterruptView(
        id=f"int_{number}",
        kind="question",
        step_id="ask",
        path=["ask"],
        payload={"text": "y" * 300},
        outcomes=["submitted"],
        request_schema=SCHEMA,
        resume_schema=SCHEMA,
        typed=True,
    )


def call(number: int, length: int = 20) -> PendingCall:
    return PendingCall(
        token=f"call_{number:026d}",
        state="deferred",
        step_id="pay",
        path=["pay"],
        capability="ops.pay",
        arguments={"what": "z" * length},
        reason="later",
        since="2026-11-30T10:00:00.000Z",
    )


def run(**fields: Any) -> RunSummary:
    return RunSummary(
        run_id="run_1",
        status="interrupted",
        resume_readiness="ready",
        deployment_id="d",
        artifact_id="a",
        artifact_version=1,
        **fields,
    )


def bounded(answer: BaseModel) -> dict[str, Any]:
    """Bound an answer: it is short enough, and an answer as before."""
    told = bounds.bounded(answer.model_dump(mode="json"), type(answer))
    assert size(told) <= MOST_BYTES
    type(answer).model_validate(told)
    return told


def test_an_answer_that_a_model_can_read_is_exact() -> None:
    told = run(output={"text": "x" * 31_000})
    assert bounded(told) == told.model_dump(mode="json")


@pytest.mark.parametrize("questions", [0, 3])
def test_of_a_longer_answer_the_longest_values_are_shortened(questions: int) -> None:
    asked = [question(number) for number in range(questions)]
    told = run(output={"number": 1, "text": "x" * 5_000_000}, interrupts=asked)
    answer = bounded(told)
    assert answer["output"]["number"] == 1
    preview = answer["output"]["text"].pop("preview")
    assert answer["output"]["text"] == {"$truncated": True, "bytes": 5_000_002}
    assert (preview.strip("x"), 1_900 < len(preview) < 2_000) == ("", True)
    assert answer["interrupts"] == told.model_dump(mode="json")["interrupts"]
    [note] = answer["diagnostics"]
    assert (note["code"], note["severity"]) == ("shortened", "warning")
    assert note["message"].endswith("too many to be read at once: shortened: `output`.")
    assert note["hint"] == "The resource wf://runs/run_1, or `wf runs show run_1 --json`, gives everything."


def test_a_long_answer_of_a_model_is_cut_and_stays_text() -> None:
    told = bounded(session(answer="word " * 1_000_000))
    assert told["answer"].startswith("word word")
    assert "5000000 characters in all" in told["answer"]
    assert "wf session show ses_1 --json" in told["diagnostics"][0]["hint"]


def test_of_many_questions_and_calls_the_first_are_named_and_it_is_said_where_the_others_are() -> None:
    many = run(
        interrupt=question(0),
        interrupts=[question(number) for number in range(900)],
        pending_calls=[call(number) for number in range(800)],
    )
    told = bounded(many)
    for name, all_of_them in (("interrupts", 900), ("pending_calls", 800)):
        shown = len(told[name])
        assert shown >= 10
        assert told[name] == many.model_dump(mode="json")[name][:shown]
        assert f"`{name}` has the first {shown} of {all_of_them}" in told["diagnostics"][0]["message"]
    assert told["diagnostics"][0]["code"] == "shortened"
    assert 'list_pending(run_id="run_1")' in told["diagnostics"][0]["hint"]
    assert "wf://runs/run_1" in told["diagnostics"][0]["hint"]


def session(**fields: Any) -> SessionDetail:
    return SessionDetail(session_id="ses_1", status="waiting", agent="helper", **fields)


def test_a_session_is_bounded_with_its_calls_its_words_and_its_turns() -> None:
    asked = [{"name": "pay", "arguments": {"what": "z" * 100}, "id": f"call_{number}"} for number in range(300)]
    given = [{"call_id": f"t2.{number}", "name": "pay", "result": {"content": "y" * 100}} for number in range(300)]
    turns = [
        TurnView(id=f"t{number}", by="model", text="x" * 900, calls=asked, results=given, notices=given)
        for number in range(20)
    ]
    prompts = ["w" * 4000] * 50
    told = bounded(
        session(pending_calls=[call(number) for number in range(900)], conversation=turns, queued_prompts=prompts)
    )
    assert (told["conversation"][-1]["id"], told["pending_calls"][0]["token"]) == ("t19", f"call_{0:026d}")
    assert SessionDetail.model_validate(told).queued_prompts
    assert f"`conversation` has the last {len(told['conversation'])} of 20" in told["diagnostics"][0]["message"]
    assert 'list_pending(session_id="ses_1")' in told["diagnostics"][0]["hint"]
    assert "wf session show ses_1 --json" in told["diagnostics"][0]["hint"]


def schema(number: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {f"field_{place}": {"type": "string", "description": "d" * 80} for place in range(number)},
    }


def test_of_a_question_as_much_stays_as_can() -> None:
    long = question(0).model_copy(update={"payload": {"text": "Really? " * 400}, "resume_schema": schema(100)})
    told = bounded(run(interrupt=long, interrupts=[long] * 5))
    assert told["interrupt"] == long.model_dump(mode="json")
    assert {item["resume_schema"]["properties"]["$truncated"] for item in told["interrupts"]} == {True}
    longer = bounded(run(interrupt=long.model_copy(update={"resume_schema": schema(1000)})))
    assert longer["interrupt"]["payload"] == long.payload
    assert len(longer["interrupt"]["resume_schema"]["properties"]["preview"]) > 10_000
    outcomes = [f"outcome_{number}" for number in range(5000)]
    many = bounded(run(interrupt=question(0).model_copy(update={"outcomes": outcomes})))
    assert len(many["interrupt"]["outcomes"]) >= 300
    shown = len(many["interrupt"]["outcomes"])
    assert many["interrupt"]["outcomes"] == outcomes[:shown]
    assert f"`interrupt.outcomes` has the first {shown} of 5000" in many["diagnostics"][0]["message"]


def test_what_is_said_to_be_left_out_is_left_out() -> None:
    told = bounded(
        run(
            error=RunErrorView(
                code="x",
                message="é" * 100_000,
                step_id="a",
                path=["a"],
                attempt=1,
                side_effects="none",
                details={"text": "y"},
            )
        )
    )
    [note] = told["diagnostics"]
    assert note["message"].endswith(": shortened: `error.message`.")
    assert told["error"]["message"].endswith(" … (100000 characters in all)")
    assert told["error"]["details"] == {"text": "y"}


def test_an_answer_without_diagnostics_gets_some_when_it_is_shortened() -> None:
    told = bounded(CallAnswer(outcome="ok", output={"rows": [1] * 100_000}))
    assert told["output"]["rows"]["bytes"] == 200_001
    assert "kept nowhere" in told["diagnostics"][0]["hint"]
    assert "diagnostics" not in bounded(CallAnswer(outcome="ok", output=1))


def test_turns_are_left_out_only_where_shorter_values_are_not_enough() -> None:
    turns = [TurnView(id=f"t{number}", by="model", text="x" * 4000) for number in range(10)]
    told = bounded(session(conversation=turns))
    assert [turn["id"] for turn in told["conversation"]] == [turn.id for turn in turns]


def row(number: int, calls: int) -> RunRow:
    waiting = [
        OpenCall(token=f"call_{place:026d}", state="deferred", step_id="pay", capability="ops.pay")
        for place in range(calls)
    ]
    return RunRow(
        run_id=f"run_{number:026d}",
        status="interrupted",
        resume_readiness="ready",
        deployment_id="d" * 50,
        artifact_id="a" * 50,
        artifact_version=1,
        outcome=None,
        error_code=None,
        interrupts=[],
        pending_calls=waiting,
        trace_count=1,
        steps_executed=1,
        created_at="2026-11-30T10:00:00.000Z",
        updated_at="2026-11-30T10:00:00.000Z",
    )


def session_row(number: int) -> SessionRow:
    return SessionRow(
        session_id=f"ses_{number:026d}",
        status="waiting",
        agent="a" * 128,
        turns=1,
        pending=900,
        error_code=None,
        created_at="2026-11-30T10:00:00.000Z",
        updated_at="2026-11-30T10:00:00.000Z",
    )


def item(number: int) -> PendingItem:
    return PendingItem(
        session_id="ses_1", type="call", since=None, call=call(number, 4000), next_action="complete_call(…)" * 20
    )


def runs(most: int) -> RunList:
    return RunList(runs=[row(number, 900) for number in range(most)], next_cursor=str(most))


def sessions(most: int) -> SessionList:
    return SessionList(sessions=[session_row(number) for number in range(most)], next_cursor=str(most))


def pending(most: int) -> PendingList:
    return PendingList(pending=[item(number) for number in range(most)], next_cursor=str(most))


@pytest.mark.parametrize(("page", "least"), [(runs, 10), (sessions, 90), (pending, 10)])
def test_a_page_that_is_too_long_has_fewer_rows(page: Callable[[int], BaseModel], least: int) -> None:
    asked, answer = 0, page(100)
    while (rows := fewer_rows(answer)) is not None:
        asked, answer = asked + 1, page(rows)
    told = bounded(answer)
    name = rows_of(type(answer))
    assert name is not None
    assert least <= len(told[name]) < 100
    assert told["next_cursor"] == str(len(told[name]))
    assert asked <= 4


def test_one_row_is_the_least_of_a_page() -> None:
    huge = item(0).model_copy(update={"interrupt": question(0).model_copy(update={"outcomes": ["o" * 900] * 90})})
    assert fewer_rows(PendingList(pending=[huge], next_cursor="c")) is None
    assert fewer_rows(PendingList(pending=[huge] * 2, next_cursor="c")) == 1
    told = bounded(PendingList(pending=[huge], next_cursor="c"))
    assert (len(told["pending"]), told["next_cursor"]) == (1, "c")


TEXTS = ["", "x", "é" * 300, "\x01" * 2_000, "😀" * 10_000]
VALUES: list[Any] = [
    None,
    1,
    "x" * 5_000,
    {"a" * 300: ["b" * 300] * 70},
    [[{"deep": "\x01" * 100}] * 3] * 10,
    {f"key{number}": number for number in range(1_000)},
    {"long": "é" * 10_000, "short": True},
]


def models_of(tool: WorkflowTool) -> list[type[BaseModel]]:
    returned = get_type_hints(tool.fn)["return"]
    return list(get_args(returned)) or [returned]


def inner_of(annotation: Any) -> Any:
    """Give what the items of a list are, or the members of a map."""
    return get_args(annotation)[-1]


@cache
def fitting(annotation: Any) -> list[Any]:
    """Give the values that a field may hold."""

    def fits(value: Any) -> bool:
        try:
            TypeAdapter(annotation).validate_python(value)
        except ValidationError:
            return False
        return True

    return [value for value in VALUES if fits(value)]


@st.composite
def answers(draw: st.DrawFn, model: type[BaseModel], depth: int = 0) -> dict[str, Any]:
    """Give an answer of a model in which everything that may be long may be."""

    def of(shape: Shape, annotation: Any) -> Any:
        match shape.kind:
            case "value":
                return draw(st.sampled_from(fitting(annotation)))
            case "text":
                return draw(st.sampled_from(TEXTS if depth == 0 else TEXTS[:-1]))
            case "list":
                assert shape.inner is not None
                one = of(shape.inner, inner_of(annotation))
                return [one] * draw(st.sampled_from([0, 1, 12] if depth else [0, 1, 12, 100]))
            case "map":
                assert shape.inner is not None
                one = of(shape.inner, inner_of(annotation))
                keys = ["k" * 5000, *(f"key{number}" for number in range(draw(st.sampled_from([0, 1, 60]))))]
                return dict.fromkeys(keys, one)
            case "record":
                assert shape.model is not None
                return draw(answers(shape.model, depth + 1))
            case "exact":
                return draw(
                    st.from_type(annotation).filter(lambda drawn: not isinstance(drawn, float) or isfinite(drawn))
                )

    told = {name: of(shape, model.model_fields[name].annotation) for name, shape in fields_of(model).items()}
    return told | {"next_cursor": "c" * 300} if "next_cursor" in told else told


@pytest.mark.parametrize("tool", tools_of(TOOLSETS), ids=lambda tool: tool.name)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_whatever_is_stored_the_answer_of_a_tool_is_short_and_fits_its_schema(
    tool: WorkflowTool, data: st.DataObject
) -> None:
    model = data.draw(st.sampled_from(models_of(tool)))
    told = model.model_validate(data.draw(answers(model)))
    name = rows_of(model)
    if name is not None:
        while (rows := fewer_rows(told)) is not None:
            told = told.model_copy(update={name: getattr(told, name)[:rows]})
    answer = bounded(told)
    if name is not None:
        assert len(answer[name]) == len(getattr(told, name))
    check = compile_schema(tool.fn_metadata.output_schema or {})
    assert check is None or check.accepts(answer)
