"""Every stored form that was ever written is still read, and leads to the same end.

A new version of a format adds its golden file here; those of earlier versions stay as they are.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_core.kernel import (
    IDEMPOTENT,
    LIST,
    Driver,
    Failed,
    ask,
    begin,
    check,
    child,
    each,
    loop,
    node,
    output_of,
    parallel,
    path,
    plan,
)
from wf_core.codec import dump_run, load_run
from wf_core.codec.runs import VERSION
from wf_core.runtime import Waiting, complete

GOLDEN = Path(__file__).parent / "codec" / "golden"
ODD: list[Any] = [10**30, 1.0, -0.5, "é𝄞\u0000", None, {"": []}]
PEOPLE = ["done", "broken", "ask Ada", "ask Grace", "flaky", "slow", "both"]

CHILD = plan(
    {
        "twice": loop("ask", over="input.questions"),
        "ask": ask(
            request={"who": path("input.who"), "what": path("context.x")},
            resume_schema={"type": "object", "properties": {"reply": {"type": "string"}}, "required": ["reply"]},
            outcome_schemas={"no": True},
            outcomes=["submitted", "no"],
            routes={"submitted": "__end__", "no": "__break__"},
            resume={"state.said": {"source": "reply", "optional": True}},
        ),
    },
    {"said": LIST},
    output={"said": path("state.said")},
)


def is_(word: str, yes: str, no: str) -> dict[str, Any]:
    return check({"op": "matches", "left": path("context.x"), "right": {"value": f"^{word}"}}, yes, no)


CALLED: dict[str, Any] = {
    "input": {"who": path("context.x"), "number": path("context.x_index")},
    "output": {"state.seen": "who", "state.sum": "number"},
}

PLAN = plan(
    {
        "each": each("asked", over="input.people", max_active=2, on_item_error={"collect_to": "state.errors"}),
        "asked": is_("ask", "child", "lost"),
        "lost": is_("broken", "give_up", "both"),
        "both": is_("both", "split", "rare"),
        "rare": is_("slow", "once", "call"),
        "give_up": node("ops.call", input={"who": path("context.x")}),
        "call": node(
            "ops.call",
            **CALLED,
            retry={"initial_delay_seconds": 30},
        ),
        "once": node("ops.once", **CALLED),
        "split": parallel({"left": "left", "right": "right", "none": "__end__"}),
        "left": node("ops.call", **CALLED),
        "right": ask(request={"who": path("context.x")}, resume={"state.seen": "reply"}),
        "child": child(
            CHILD,
            "call",
            input={"who": path("context.x"), "questions": {"value": ["first", "second"]}},
            output={"state.replies": "said"},
        ),
    },
    {
        "odd": {"default": ODD},
        "seen": LIST,
        "errors": LIST,
        "replies": {**LIST, "reducer": "extend"},
        "sum": {"type": "integer", "reducer": "add"},
    },
    output={"state": path("state")},
)


def outside(given: dict[str, Any]) -> Any:
    if given["who"] in ("broken", "flaky"):
        raise Failed("timeout", "Nobody answered.")
    return given


def driver() -> Driver:
    fakes = {"ops.call": outside, "ops.once": outside}
    return begin(PLAN, {"people": PEOPLE}, fakes=fakes, contracts={"ops.call": IDEMPOTENT})


def paused() -> Driver:
    """Come to a point at which a run holds a bit of everything.

    An item that ended, one that failed for good, questions of two children inside serial loops, one of them answered
    while every place was taken, a call that waits for its next attempt, one in doubt, and one in flight, which is in a
    branch beside a question.
    """
    drive = driver()
    drive.look()
    drive.deliver("c1")
    drive.deliver("c2")
    drive.wait(1.5)
    drive.look()
    drive.deliver("c3")
    drive.crash()
    drive.look()
    drive.answer({"reply": "hello"}, "int_2")
    drive.look()
    return drive


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_run_stored_by_any_version_goes_on_to_the_same_end(version: int) -> None:
    drive = driver()
    drive.run = load_run((GOLDEN / f"run_v{version}.json").read_bytes())
    drive.fakes = {"ops.call": lambda given: given}
    (in_flight,) = drive.run.calls.values()
    complete(drive.program, drive.run, in_flight.id, outcome="ok", output=in_flight.input, now=drive.now)
    for call_id in list(drive.run.pending_calls):
        drive.settle(call_id, "completed", output={"who": "slow", "number": 5})
    while drive.go().status == "interrupted":
        question = next(iter(drive.run.interrupts.values()))
        if question.path[1] == "2":
            drive.answer({}, question.id, outcome="no")
        else:
            drive.answer({"reply": str(question.payload)}, question.id)
    assert output_of(drive.run)["state"] == {
        "odd": ODD,
        "seen": ["done", "ask Ada", "ask Grace", "flaky", "slow", "both", "{'who': 'both'}"],
        "errors": [
            {
                "index": 1,
                "item": "broken",
                "error": {"code": "timeout", "message": "Nobody answered.", "step_id": "give_up"},
            }
        ],
        "replies": ["hello", "{'who': 'ask Grace', 'what': 'second'}"],
        "sum": 20,
    }


def test_the_newest_golden_file_is_what_is_written_now() -> None:
    """Where this fails the stored form has changed: it needs a new version, an upgrade step and a new golden file."""
    assert dump_run(paused().run) == (GOLDEN / f"run_v{VERSION}.json").read_bytes()


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_run_that_was_loaded_is_written_as_it_was_read(version: int) -> None:
    stored = (GOLDEN / f"run_v{version}.json").read_bytes()
    if version == VERSION:
        assert dump_run(load_run(stored)) == stored


def test_the_golden_run_waits_for_a_time_a_call_an_answer_and_a_person_and_holds_an_item_back() -> None:
    drive = paused()
    assert isinstance(drive.look(), Waiting)
    kinds = sorted(type(frame.activity).__name__ for frame in drive.run.frames.values())
    assert kinds == ["Asking"] * 2 + ["Calling", "Delayed"] + ["InChild"] * 2 + ["Looping"] * 4 + ["Pending"]
    assert [frame.parked for frame in drive.run.frames.values()].count(True) == 1
    assert len(drive.run.lineages) == 7
