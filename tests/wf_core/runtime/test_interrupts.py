"""Questions: what is asked, which answers are taken, and that a refused answer changes nothing."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    LIST,
    NOW,
    Driver,
    Json,
    ask,
    begin,
    each,
    error_of,
    finish,
    node,
    path,
    plan,
    put,
    value,
)
from wf_core.codec import dump_run
from wf_core.errors import (
    AmbiguousInterrupt,
    InvalidResumeOutcome,
    InvalidResumePayload,
    PersonRequired,
    RunNotInterrupted,
    RunRefused,
    StaleInterrupt,
)

COMMENT: dict[str, Any] = {"type": "object", "properties": {"comment": {"type": "string"}}, "required": ["comment"]}


def review(**more: Any) -> dict[str, Any]:
    step: Json = {
        "type": "interrupt",
        "kind": "approval",
        "request": {"text": path("input.text"), "question": value("Publish?")},
        "resume_schema": COMMENT,
        "outcome_schemas": {"cancelled": {}},
        "resume": {"state.comment": {"source": "comment", "optional": True}},
        "outcomes": ["approved", "cancelled"],
        "routes": {"approved": "__end__", "cancelled": "stop"},
    }
    steps: Json = {"review": {**step, **more}, "stop": {"type": "end", "outcome": "stopped"}}
    return plan(steps, {"comment": {}}, outcomes=["ok", "stopped"], output={"state": path("state")})


def asked(document: dict[str, Any] | None = None, **more: Any) -> Driver:
    drive = begin(document or review(**more), {"text": "words"})
    drive.look()
    return drive


def test_reaching_an_interrupt_stops_the_run_with_the_request_and_what_may_be_answered() -> None:
    drive = asked()
    assert drive.run.status == "interrupted"
    (question,) = drive.run.interrupts.values()
    assert (question.id, question.kind, question.step_id, question.path) == ("int_1", "approval", "review", ("review",))
    assert question.payload == {"text": "words", "question": "Publish?"}
    assert question.outcomes == ("approved", "cancelled")
    assert question.schema_for("approved") == COMMENT
    assert question.schema_for("cancelled") == {}
    assert (question.typed, question.answered_by, question.opened_at) == (True, "anyone", NOW)


def test_an_answer_goes_on_along_its_outcome_and_is_written_where_resume_says() -> None:
    drive = asked()
    drive.answer({"comment": "fine"}, outcome="approved")
    run = drive.go()
    assert (run.outcome, run.output) == ("ok", {"state": {"comment": "fine"}})


def test_an_outcome_may_have_a_schema_of_its_own_and_an_optional_source_that_is_missing_writes_nothing() -> None:
    drive = asked()
    drive.answer({}, outcome="cancelled")
    run = drive.go()
    assert (run.outcome, run.output) == ("stopped", {"state": {}})


def test_the_default_outcome_is_submitted_and_any_answer_will_do() -> None:
    drive = asked(plan({"ask": ask(resume={"state.said": "."})}, {"said": {}}, output={"said": path("state.said")}))
    (question,) = drive.run.interrupts.values()
    assert (question.outcomes, question.typed) == (("submitted",), False)
    drive.answer([1, None])
    assert drive.run.output == {"said": [1, None]}


@pytest.mark.parametrize("said", [{"resume_schema": {}}, {"outcome_schemas": {"submitted": {}}}])
def test_a_question_is_typed_where_the_plan_says_what_an_answer_looks_like(said: Json) -> None:
    (question,) = asked(plan({"ask": ask(**said)})).run.interrupts.values()
    assert question.typed


def test_the_request_may_be_any_payload() -> None:
    drive = asked(plan({"ask": ask(request={".": path("input.text")})}))
    assert [one.payload for one in drive.run.interrupts.values()] == ["words"]


def test_a_request_that_does_not_fit_its_schema_is_request_invalid_and_nothing_is_asked() -> None:
    run = finish(review(request_schema={"required": ["more"]}), {"text": "words"})
    assert error_of(run) == ("request_invalid", "review")
    assert run.interrupts == {}


def test_a_request_that_reads_what_is_not_there_is_path_not_found() -> None:
    assert error_of(finish(review(), {})) == ("path_not_found", "review")


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ({"payload": {"comment": 3}, "outcome": "approved"}, InvalidResumePayload),
        ({"payload": {}, "outcome": "approved"}, InvalidResumePayload),
        ({"payload": {"comment": float("nan")}, "outcome": "cancelled"}, InvalidResumePayload),
        ({"payload": {"comment": "\ud800"}, "outcome": "approved"}, InvalidResumePayload),
        ({"payload": {"comment": "fine"}, "outcome": "submitted"}, InvalidResumeOutcome),
        ({"payload": {"comment": "fine"}, "outcome": "approved", "interrupt_id": "int_2"}, StaleInterrupt),
        ({"payload": {"comment": "fine"}, "outcome": "approved", "interrupt_id": ""}, StaleInterrupt),
    ],
)
def test_a_refused_answer_leaves_the_run_byte_for_byte_as_it_was(
    answer: dict[str, Any], refusal: type[RunRefused]
) -> None:
    drive = asked()
    before = dump_run(drive.run)
    with pytest.raises(refusal):
        drive.answer(**answer)
    assert dump_run(drive.run) == before
    assert len(drive.raw_trace) == 1
    drive.answer({"comment": "fine"}, outcome="approved")
    assert drive.run.status == "completed"


def test_a_question_for_a_person_is_answered_by_a_person_only() -> None:
    drive = asked(answered_by="person")
    with pytest.raises(PersonRequired):
        drive.answer({"comment": "fine"}, outcome="approved")
    drive.answer({"comment": "fine"}, outcome="approved", person=True)
    assert drive.run.status == "completed"


def test_a_run_without_a_question_is_not_interrupted() -> None:
    drive = begin(plan({"say": node()}))
    with pytest.raises(RunNotInterrupted):
        drive.answer()
    drive.go()
    with pytest.raises(RunNotInterrupted):
        drive.answer()


def test_an_answered_question_is_stale() -> None:
    drive = asked(plan({"ask": ask("more"), "more": ask()}))
    drive.answer(interrupt_id="int_1")
    drive.look()
    with pytest.raises(StaleInterrupt):
        drive.answer(interrupt_id="int_1")
    assert list(drive.run.interrupts) == ["int_2"]


def several(reloading: bool) -> Driver:
    steps = {
        "each": each("ask"),
        "ask": ask("note", request={"x": path("context.x")}, resume={"state.said": "."}),
        "note": put("state.said", path("context.x")),
    }
    document = plan(steps, {"said": LIST}, output={"said": path("state.said")})
    drive = begin(document, {"items": [0, 1, 2]}, reloading=reloading)
    drive.look()
    return drive


@pytest.mark.parametrize("reloading", [False, True])
def test_several_questions_are_open_at_once_listed_as_they_opened_and_answered_in_any_order(reloading: bool) -> None:
    drive = several(reloading)
    assert [(one.id, one.path) for one in drive.run.interrupts.values()] == [
        ("int_1", ("each", "0", "ask")),
        ("int_2", ("each", "1", "ask")),
        ("int_3", ("each", "2", "ask")),
    ]
    for interrupt in ("int_3", "int_1", "int_2"):
        assert drive.run.status == "interrupted"
        drive.answer(interrupt, interrupt)
        drive.go()
    assert drive.run.output == {"said": ["int_1", 0, "int_2", 1, "int_3", 2]}


def test_an_answer_that_names_no_question_is_ambiguous_while_several_are_open() -> None:
    drive = several(reloading=False)
    with pytest.raises(AmbiguousInterrupt) as caught:
        drive.answer()
    assert caught.value.details == {"interrupt_ids": ["int_1", "int_2", "int_3"]}


def test_a_question_may_be_answered_while_calls_are_in_flight() -> None:
    steps = {
        "each": each("which"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": value("ask")},
            "routes": {"true": "ask", "false": "call"},
        },
        "ask": ask(),
        "call": node(),
    }
    drive = begin(plan(steps), {"items": ["ask", "b"]})
    drive.look()
    assert (drive.run.status, len(drive.run.interrupts), len(drive.run.calls)) == ("running", 1, 1)
    drive.answer()
    assert drive.go().status == "completed"


def test_two_questions_one_after_the_other_get_each_their_own_answer() -> None:
    steps = {"first": ask("second", resume={"state.a": "."}), "second": ask(resume={"state.b": "."})}
    drive = asked(plan(steps, {"a": {}, "b": {}}, output={"state": path("state")}))
    drive.answer("a")
    drive.go()
    drive.answer("b")
    assert drive.run.output == {"state": {"a": "a", "b": "b"}}


def test_an_answer_that_fits_the_question_but_not_the_state_fails_the_step() -> None:
    document = review()
    document["state_schema"]["properties"]["comment"] = {"maxLength": 3}
    drive = asked(document)
    drive.answer({"comment": "too long"}, outcome="approved")
    assert error_of(drive.run) == ("state_invalid", "review")


def test_an_answer_is_noted_with_who_gave_it_how_and_to_what() -> None:
    drive = asked()
    drive.wait(2.5)
    drive.answer({"comment": "fine"}, outcome="approved", channel="cli", principal="ada", person=True)
    opened, answered = drive.trace
    assert (opened["outcome"], opened["input"]) == (None, {"text": "words", "question": "Publish?"})
    assert (answered["outcome"], answered["output"], answered["duration_ms"]) == ("approved", {"comment": "fine"}, 2500)
    digest = answered["answer"].pop("request_digest")
    assert digest.startswith("sha256:")
    assert answered["answer"] == {
        "interrupt_id": "int_1",
        "channel": "cli",
        "principal": "ada",
        "person": True,
        "at": "2026-11-30T10:00:02.500Z",
    }


def test_the_question_keeps_what_it_asked_when_the_state_goes_on() -> None:
    steps = {
        "each": each("which"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": value("ask")},
            "routes": {"true": "ask", "false": "note"},
        },
        "ask": ask("note", request={"said": path("state.said")}),
        "note": put("state.said", path("context.x"), to="again"),
        "again": put("state.said", path("context.x")),
    }
    drive = begin(
        plan({"first": put("state.said", value(0), "each"), **steps}, {"said": LIST}), {"items": ["ask", "b"]}
    )
    drive.go()
    (question,) = drive.run.interrupts.values()
    payload = question.payload
    drive.answer()
    drive.go()
    assert payload == {"said": [0]}
    assert drive.run.scopes[0].layer.whole() == {"said": [0, "ask", "ask", "b", "b"]}
