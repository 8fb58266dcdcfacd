"""What is noted of a run: one entry for each step that ended, each one line of JSON."""

from typing import Any

from tests.wf_core.kernel import (
    LIST,
    READ_ONLY,
    Failed,
    ask,
    begin,
    check,
    child,
    each,
    loop,
    node,
    path,
    plan,
    put,
    value,
)
from wf_core.runtime.traces import MAX_VALUE_BYTES

KEYS = [
    "index",
    "step_id",
    "path",
    "step_type",
    "outcome",
    "next_step_id",
    "input",
    "output",
    "state_changes",
    "attempt",
    "started_at",
    "duration_ms",
    "error",
]


def entries(document: Any, given: Any = None) -> list[dict[str, Any]]:
    drive = begin(document, given)
    drive.go()
    assert all(b"\n" not in line for line in drive.raw_trace)
    assert [entry["index"] for entry in drive.trace] == list(range(len(drive.trace)))
    return drive.trace


def test_a_node_is_noted_with_what_went_in_what_came_out_and_what_it_changed() -> None:
    drive = begin(plan({"say": put("state.log", value(1), "__end__")}, {"log": LIST}))
    drive.wait(1)
    drive.look()
    drive.wait(0.25)
    drive.go()
    (entry,) = drive.trace
    assert list(entry) == KEYS
    assert entry == {
        "index": 0,
        "step_id": "say",
        "path": ["say"],
        "step_type": "node",
        "outcome": "ok",
        "next_step_id": "__end__",
        "input": {"value": 1},
        "output": {"value": 1},
        "state_changes": {"state.log": {"append": 1}},
        "attempt": 1,
        "started_at": "2026-11-30T10:00:01.000Z",
        "duration_ms": 250.0,
        "error": None,
    }


def test_every_kind_of_step_is_noted_when_it_ends() -> None:
    inner = plan({"say": node()}, output={"a": value(1)})
    steps = {
        "if": check({"op": "exists", "path": "input"}, "each"),
        "each": loop("say", to="sub"),
        "say": node(),
        "sub": child(inner, "nap"),
        "nap": node("t.sleep", input={"seconds": value(1)}, to="join"),
        "join": {"type": "join", "routes": {"ok": "stop"}},
        "stop": {"type": "end"},
    }
    noted = entries(plan(steps), {"items": [7]})
    assert [(one["step_type"], one["path"], one["outcome"], one["next_step_id"]) for one in noted] == [
        ("condition", ["if"], "true", "each"),
        ("node", ["each", "0", "say"], "ok", "__end__"),
        ("foreach", ["each"], "done", "sub"),
        ("node", ["sub", "say"], "ok", "__end__"),
        ("subgraph", ["sub"], "ok", "nap"),
        ("node", ["nap"], "ok", "join"),
        ("join", ["join"], "ok", "stop"),
        ("end", ["stop"], "ok", None),
    ]
    assert noted[2]["output"] == {"items": 1, "failed": 0}
    assert noted[4]["output"] == {"a": 1}


def test_an_interrupt_is_noted_when_it_asks_and_when_it_is_answered() -> None:
    drive = begin(plan({"ask": ask(request={"q": value("why?")}, resume={"state.a": "."})}, {"a": {}}))
    drive.go()
    drive.answer("because")
    asked, answered = drive.trace
    assert (asked["outcome"], asked["input"], "answer" in asked) == (None, {"q": "why?"}, False)
    assert (answered["outcome"], answered["output"]) == ("submitted", "because")
    assert answered["state_changes"] == {"state.a": {"replace": "because"}}
    assert list(answered) == [*KEYS, "answer"]


def test_a_failure_is_noted_at_its_step_and_at_every_step_around_it() -> None:
    noted = entries(plan({"each": each("say"), "say": node(input={"v": path("context.x.v")})}), {"items": [{}]})
    assert [(one["path"], one["error"]["code"], one["outcome"]) for one in noted] == [
        (["each", "0", "say"], "path_not_found", None),
        (["each"], "path_not_found", None),
    ]


def test_a_result_that_was_refused_is_noted_with_the_error() -> None:
    (entry,) = entries(plan({"say": node(input={"a": value(1)}, output={"state.a": "gone"})}, {"a": {}}))
    assert (entry["input"], entry["output"], entry["state_changes"]) == ({"a": 1}, {"a": 1}, {})


def test_a_long_value_is_shortened_and_marked_and_the_state_keeps_it_whole() -> None:
    long = "x" * 6000
    drive = begin(
        plan({"say": put("state.a", path("input.long"))}, {"a": {}}, output={"a": path("state.a")}), {"long": long}
    )
    run = drive.go()
    (entry,) = drive.trace
    assert entry["input"]["value"]["$truncated"] is True
    assert entry["input"]["value"]["bytes"] == 6002
    assert entry["state_changes"]["state.a"]["replace"]["$truncated"] is True
    assert run.output == {"a": long}
    assert len(drive.raw_trace[0]) < 4 * MAX_VALUE_BYTES


def test_a_value_that_is_not_long_is_kept_although_the_entry_is() -> None:
    text = "x" * 2000
    (entry,) = entries(plan({"say": put("state.a", value(text))}, {"a": {}}))
    assert (entry["input"], entry["output"]) == ({"value": text}, {"value": text})


def test_integers_beyond_64_bits_are_noted_exactly() -> None:
    (entry,) = entries(plan({"say": put("state.a", value(10**30))}, {"a": {}}))
    assert entry["output"] == {"value": 10**30}


def test_what_was_noted_does_not_change_with_the_state() -> None:
    steps = {
        "one": put("state.log", value(1), "two"),
        "two": put("state.log", path("state.log"), "three"),
        "three": put("state.log", value(3)),
    }
    noted = entries(plan(steps, {"log": LIST}))
    assert [one["state_changes"]["state.log"]["append"] for one in noted] == [1, [1], 3]


def test_entries_are_drained_once_and_counted_on() -> None:
    drive = begin(plan({"a": node(to="b"), "b": node()}))
    drive.look()
    drive.deliver()
    assert (drive.run.trace_count, len(drive.raw_trace), drive.run.take_trace()) == (1, 1, [])


def test_a_retried_call_is_noted_once_with_its_last_attempt() -> None:
    left = [1]

    def flaky(given: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise Failed
        return given

    drive = begin(plan({"say": node("t.it", retry={})}), fakes={"t.it": flaky}, contracts={"t.it": READ_ONLY})
    drive.go()
    assert [(one["attempt"], one["duration_ms"]) for one in drive.trace] == [(2, 1000.0)]


def test_an_entry_is_one_line_of_json() -> None:
    (entry,) = entries(plan({"say": put("state.a", value("two\nlines \u2028"))}, {"a": {}}))
    assert entry["output"] == {"value": "two\nlines \u2028"}
