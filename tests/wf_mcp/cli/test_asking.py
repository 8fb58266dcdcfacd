"""Asking a person the question at which a run stopped."""

import io
from typing import Any

import pytest

from wf_core.errors import AmbiguousInterrupt, PersonRequired, RunNotInterrupted, StaleInterrupt
from wf_mcp.cli.asking import Reply, answer, choose
from wf_mcp.operations.models import InterruptView, RunSummary


def question(interrupt_id: str = "int_1", **fields: Any) -> InterruptView:
    given: dict[str, Any] = {
        "id": interrupt_id,
        "kind": "approval",
        "step_id": "ask",
        "path": ["ask"],
        "payload": {},
        "outcomes": ["yes", "no"],
        "request_schema": {},
        "resume_schema": {},
        "typed": True,
    }
    return InterruptView.model_validate(given | fields)


def run(*questions: InterruptView) -> RunSummary:
    return RunSummary(
        run_id="run_1",
        status="interrupted" if questions else "completed",
        resume_readiness="ready",
        deployment_id="d",
        artifact_id="a",
        artifact_version=1,
        interrupts=list(questions),
    )


def test_the_only_question_need_not_be_named() -> None:
    one, two = question("int_1"), question("int_2")

    assert choose(run(one), None) == one
    assert choose(run(one, two), "int_2") == two


def test_a_question_that_is_not_there_or_not_clear_is_refused() -> None:
    with pytest.raises(RunNotInterrupted):
        choose(run(), None)
    with pytest.raises(StaleInterrupt):
        choose(run(question()), "int_9")
    with pytest.raises(AmbiguousInterrupt, match="int_1, int_2"):
        choose(run(question("int_1"), question("int_2")), None)


@pytest.mark.parametrize(
    ("fields", "typed", "reply"),
    [
        ({}, "maybe\nyes\n", Reply("yes", {}, "int_1")),
        (
            {
                "resume_schema": {
                    "properties": {"why": {"type": "string"}, "n": {"type": "integer"}, "x": {"type": "string"}},
                    "required": ["n"],
                }
            },
            "no\nbecause\n3\n\n",
            Reply("no", {"why": "because", "n": 3}, "int_1"),
        ),
        (
            {"outcome_schemas": {"no": {"type": "array"}}, "resume_schema": {"properties": {"why": True}}},
            "no\n[1]\n",
            Reply("no", [1], "int_1"),
        ),
    ],
)
def test_an_outcome_is_chosen_and_its_schema_filled_in(
    fields: dict[str, Any], typed: str, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    assert answer(question(**fields)) == reply


def test_nobody_who_answers_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    with pytest.raises(PersonRequired):
        answer(question())
