"""Answers that a model can read."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from wf_core.jsonvalue import size
from wf_mcp.operations.models import (
    InterruptView,
    OpenCall,
    PendingCall,
    PendingItem,
    PendingList,
    RunList,
    RunRow,
    RunSummary,
)
from wf_mcp.operations.session_models import SessionDetail, SessionList, SessionRow, TurnView
from wf_mcp.server.bounds import MOST_BYTES, bounded, paged

pytestmark = pytest.mark.anyio

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


def test_an_answer_that_a_model_can_read_is_exact() -> None:
    told = run(output={"text": "x" * 31_000}).model_dump(mode="json")
    assert bounded(told) == told


@pytest.mark.parametrize("questions", [0, 3])
def test_of_a_longer_answer_the_longest_values_are_shortened(questions: int) -> None:
    asked = [question(number) for number in range(questions)]
    told = run(output={"number": 1, "text": "x" * 5_000_000}, interrupts=asked).model_dump(mode="json")
    answer = bounded(told)
    assert size(answer) <= MOST_BYTES
    assert answer["output"]["number"] == 1
    assert answer["output"]["text"]["$truncated"] is True
    assert answer["interrupts"] == told["interrupts"]
    assert answer["diagnostics"] == []


def test_a_long_answer_of_a_model_is_cut_and_stays_text() -> None:
    told = bounded(session(answer="word " * 1_000_000).model_dump(mode="json"))
    assert told["answer"].startswith("word word")
    assert "5000000 characters in all" in told["answer"]
    assert size(told) <= MOST_BYTES


def test_of_many_questions_and_calls_the_first_are_named_and_it_is_said_where_the_others_are() -> None:
    many = run(
        interrupt=question(0),
        interrupts=[question(number) for number in range(900)],
        pending_calls=[call(number) for number in range(800)],
    ).model_dump(mode="json")
    told = bounded(many)
    assert size(told) <= MOST_BYTES
    for name, all_of_them in (("interrupts", 900), ("pending_calls", 800)):
        shown = len(told[name])
        assert shown >= 10
        assert [one.get("id") or one["token"] for one in told[name]] == [
            one.get("id") or one["token"] for one in many[name][:shown]
        ]
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
        session(
            pending_calls=[call(number) for number in range(900)], conversation=turns, queued_prompts=prompts
        ).model_dump(mode="json")
    )
    assert size(told) <= MOST_BYTES
    assert (told["conversation"][-1]["id"], told["pending_calls"][0]["token"]) == ("t19", f"call_{0:026d}")
    assert SessionDetail.model_validate(told).queued_prompts
    assert f"`conversation` has the last {len(told['conversation'])} of 20" in told["diagnostics"][0]["message"]
    assert 'list_pending(session_id="ses_1")' in told["diagnostics"][0]["hint"]
    assert "wf session show ses_1 --json" in told["diagnostics"][0]["hint"]


def test_turns_are_left_out_only_where_shorter_values_are_not_enough() -> None:
    turns = [TurnView(id=f"t{number}", by="model", text="x" * 4000) for number in range(10)]
    told = bounded(session(conversation=turns).model_dump(mode="json"))
    assert [turn["id"] for turn in told["conversation"]] == [turn.id for turn in turns]
    assert size(told) <= MOST_BYTES


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


@pytest.mark.parametrize("page", [runs, sessions, pending])
async def test_a_page_that_is_too_long_has_fewer_rows_and_the_cursor_of_the_next(
    page: Callable[[int], BaseModel],
) -> None:
    asked: list[int] = []

    async def ask(most: int) -> BaseModel:
        asked.append(most)
        return page(most)

    told = bounded((await paged(ask, 100)).model_dump(mode="json"))
    rows = next(iter(told.values()))
    assert 10 <= len(rows) < 100
    assert told["next_cursor"] == str(len(rows))
    assert size(told) <= MOST_BYTES
    assert len(asked) <= 4


async def test_a_page_that_can_be_read_is_asked_for_once_and_one_row_is_the_least() -> None:
    asked: list[int] = []

    async def ask(most: int) -> RunSummary | PendingList:
        asked.append(most)
        return PendingList(pending=[item(0)], next_cursor=None)

    await paged(ask, 20)
    assert asked == [20]

    async def ask_much(most: int) -> PendingList:
        asked.append(most)
        huge = item(0).model_copy(update={"next_action": "x" * 100_000})
        return PendingList(pending=[huge] * min(most, 2), next_cursor=None)

    assert len((await paged(ask_much, 20)).pending) == 1
    assert asked == [20, 20, 1]
