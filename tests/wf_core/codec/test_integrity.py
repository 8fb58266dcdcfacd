"""A stored run that contradicts itself is refused, wherever the contradiction is."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wf_core.codec.damage import damaged, golden, places
from tests.wf_core.kernel import begin, node, path, plan
from tests.wf_core.test_codec import driver
from wf_core.codec import dump_run, load_run
from wf_core.errors import StateCorrupt, StepFailed
from wf_core.runtime import Ready, next_work

Change = Callable[[Any], Any]


def at(*place: str | int) -> tuple[str | int, ...]:
    return ("body", *place)


def frame(number: int, *rest: str | int) -> tuple[str | int, ...]:
    """Name a place in the frame of this id."""
    position = [one["id"] for one in golden()["body"]["frames"]].index(number)
    return at("frames", position, *rest)


def frame_that(kind: str) -> int:
    """Give the id of the first frame that does this."""
    return next(one["id"] for one in golden()["body"]["frames"] if one["activity"]["kind"] == kind)


LOOP, ASKING, CALLING, DELAYED, PENDING, IN_CHILD = map(
    frame_that, ("looping", "asking", "calling", "delayed", "pending", "in_child")
)
CHILD: int = golden()["body"]["frames"][[one["id"] for one in golden()["body"]["frames"]].index(IN_CHILD)]["activity"][
    "frame"
]
ITEM = IN_CHILD

CONTRADICTIONS: dict[str, tuple[tuple[str | int, ...], Change]] = {
    "a frame that is ready and not there": (at("ready"), lambda _: [99]),
    "a frame that is ready twice": (frame(ITEM, "activity"), lambda _: None),
    "a frame that waits and is ready": (at("ready"), lambda _: [CALLING]),
    "a frame that asks and is ready": (at("ready"), lambda _: [ASKING]),
    "a frame that could go on and has no turn": (frame(CALLING, "activity"), lambda _: None),
    "no root": (at("frames"), lambda frames: frames[1:]),
    "two roots": (frame(ITEM, "role"), lambda _: "root"),
    "a root with a parent": (frame(0, "parent"), lambda _: 0),
    "a root in a lineage": (frame(0, "lineage"), lambda _: ITEM),
    "a parent that is not there": (frame(ITEM, "parent"), lambda _: 1),
    "a parent that is younger": (frame(ITEM, "parent"), lambda _: CALLING),
    "a parent that knows another": (frame(ITEM, "index"), lambda _: 0),
    "an item without an index": (frame(ITEM, "index"), lambda _: None),
    "a child with an index": (frame(CHILD, "index"), lambda _: 0),
    "a child that is an item": (frame(CHILD, "role"), lambda _: "item"),
    "a scope that is not there": (frame(ITEM, "scope"), lambda _: 9),
    "an item in another scope than its loop": (frame(ITEM, "scope"), lambda _: 1),
    "a child in its parent's scope": (frame(CHILD, "scope"), lambda _: 0),
    "no scope of the run": (at("scopes"), lambda scopes: scopes[1:]),
    "a scope of nobody": (at("scopes"), lambda scopes: [*scopes, {**scopes[0], "id": 2, "program": ["child"]}]),
    "a scope of another plan": (at("scopes", 1, "program"), lambda _: ["each"]),
    "a run with the plan of a child": (at("scopes", 0, "program"), lambda _: ["child"]),
    "a lineage that is not there": (at("lineages"), lambda lineages: lineages[1:]),
    "a lineage of nobody": (frame(ITEM, "lineage"), lambda _: None),
    "a lineage of another item": (frame(CALLING, "lineage"), lambda _: ITEM),
    "a lineage over another scope": (at("lineages", 0, "scope"), lambda _: 1),
    "a lineage over another lineage": (at("lineages", 1, "parent"), lambda _: ITEM),
    "lineages out of order": (at("lineages"), lambda lineages: lineages[::-1]),
    "frames out of order": (at("frames"), lambda frames: [frames[0], *frames[:0:-1]]),
    "scopes out of order": (at("scopes"), lambda scopes: scopes[::-1]),
    "a call that is not there": (at("calls"), lambda _: []),
    "a call of another frame": (at("calls", 0, "frame"), lambda _: ASKING),
    "a call that nobody waits for": (at("calls"), lambda calls: [*calls, {**calls[0], "id": "c1"}]),
    "a call that was not given yet": (at("calls", 0, "id"), lambda _: "c9"),
    "a call with an odd id": (at("calls", 0, "id"), lambda _: "c04"),
    "a delayed call of another frame": (frame(DELAYED, "activity", "call", "frame"), lambda _: CALLING),
    "a delayed call that is in flight": (
        frame(DELAYED, "activity", "call", "id"),
        lambda _: golden()["body"]["calls"][0]["id"],
    ),
    "a call in doubt of another frame": (frame(PENDING, "activity", "call", "frame"), lambda _: CALLING),
    "a call in doubt that is in flight": (
        frame(PENDING, "activity", "call", "id"),
        lambda _: golden()["body"]["calls"][0]["id"],
    ),
    "a call in doubt that was not given yet": (frame(PENDING, "activity", "call", "id"), lambda _: "c6"),
    "a frame with a call in doubt that has a turn": (at("ready"), lambda _: [PENDING]),
    "a question that is not there": (frame(ASKING, "activity", "interrupt"), lambda _: "int_9"),
    "a question of another frame": (at("interrupts", 0, "frame"), lambda _: CALLING),
    "a question of another step": (at("interrupts", 0, "step_id"), lambda _: "twice"),
    "a question without outcomes": (at("interrupts", 0, "outcomes"), lambda _: []),
    "a child that is not there": (frame(IN_CHILD, "activity", "frame"), lambda _: 99),
    "a child that ended and did not": (
        frame(IN_CHILD, "activity", "ended"),
        lambda _: {"outcome": "ok", "output": {}, "error": None},
    ),
    "an item that is not there": (frame(LOOP, "activity", "active"), lambda active: [*active, [0, 99]]),
    "an item that has not begun": (frame(LOOP, "activity", "next_index"), lambda _: 2),
    "more items begun than there are": (frame(LOOP, "activity", "items"), lambda _: []),
    "an item that began and ended": (frame(LOOP, "activity", "writes"), lambda writes: [*writes, [2, []]]),
    "a place for an item that ended": (frame(LOOP, "activity", "parked"), lambda parked: [[0, parked[0][1]]]),
    "a place for nobody": (frame(LOOP, "activity", "parked"), lambda parked: [[parked[0][0], []]]),
    "a place for a frame of another item": (
        frame(LOOP, "activity", "parked"),
        lambda parked: [[parked[0][0], [CALLING]]],
    ),
    "a place for a frame that is not there": (frame(LOOP, "activity", "parked"), lambda parked: [[parked[0][0], [99]]]),
    "a frame that waits for two places": (
        frame(LOOP, "activity", "parked"),
        lambda parked: [[parked[0][0], parked[0][1] * 2]],
    ),
    "a frame that has a turn and waits for a place": (at("ready"), lambda _: parked_frame()),
    "an id that was not given yet": (at("counters", "frame"), lambda _: 3),
    "a scope that was not given yet": (at("counters", "scope"), lambda _: 1),
    "a question that was not given yet": (at("counters", "interrupt"), lambda _: 1),
    "an error of a run that goes on": (
        at("error"),
        lambda _: {
            "code": "a",
            "message": "b",
            "step_id": None,
            "path": [],
            "attempt": 1,
            "side_effects": "none",
            "details": {},
        },
    ),
    "an outcome of a run that goes on": (at("outcome"), lambda _: "ok"),
    "an output of a run that goes on": (at("output"), lambda _: {}),
    "a completed run that can go on": (at("status"), lambda _: "completed"),
    "an interrupted run that can go on": (at("status"), lambda _: "interrupted"),
    "a cancelled run that can go on": (at("status"), lambda _: "cancelled"),
}


def parked_frame() -> list[int]:
    parked = golden()["body"]["frames"][0]["activity"]["parked"]
    return parked[0][1]


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_run_that_contradicts_itself_is_refused(name: str) -> None:
    place, change = CONTRADICTIONS[name]
    with pytest.raises(StateCorrupt):
        load_run(damaged(place, change))


@pytest.mark.parametrize("status", ["running", "interrupted"])
def test_a_run_that_nothing_moves_any_more_is_refused(status: Any) -> None:
    drive = begin(plan({"say": node()}))
    drive.run.ready.clear()
    drive.run.status = status
    with pytest.raises(StateCorrupt):
        load_run(dump_run(drive.run))


def test_a_run_that_ended_says_how() -> None:
    drive = begin(plan({"say": node()}))
    drive.go()
    drive.run.outcome = None
    with pytest.raises(StateCorrupt):
        load_run(dump_run(drive.run))
    failed = begin(plan({"say": node(input={"v": path("input.v")})}))
    failed.go()
    failed.run.error = None
    with pytest.raises(StateCorrupt):
        load_run(dump_run(failed.run))


def test_whatever_number_or_name_is_changed_the_run_is_refused_or_goes_on() -> None:
    """No damage that is not seen here makes the kernel stumble over what it takes for granted."""
    accepted = 0
    for place, found in places(golden()["body"]):
        others: list[Any] = []
        if type(found) is int:
            others = [0, 1, 2, 3, 5, 8, 11]
        elif isinstance(found, str):
            others = ["each", "ask", "call", "child", "twice", "asked", "nowhere"]
        for other in others:
            accepted += goes_on(damaged(place, lambda _, other=other: other))
    assert accepted


def goes_on(data: bytes) -> bool:
    drive = driver()
    try:
        drive.run = load_run(data)
        while isinstance(next_work(drive.program, drive.run, now=drive.now), Ready):
            pass
        for interrupt in list(drive.run.interrupts.values()):
            drive.answer({"reply": "x"}, interrupt.id, outcome=interrupt.outcomes[0])
        next_work(drive.program, drive.run, now=drive.now)
    except StateCorrupt:
        return False
    except StepFailed as escaped:
        raise AssertionError from escaped
    return True
