"""Turns: a step is begun once, and a frame goes on with what it waited for."""

from datetime import timedelta

from tests.wf_core.kernel import NOW, READ_ONLY, Failed, ask, begin, error_of, loop, node, path, plan, value


def test_a_step_begins_when_its_turn_comes_and_is_counted_then() -> None:
    drive = begin(plan({"say": node()}))
    assert drive.run.steps_executed == 0
    drive.wait(3)
    drive.look()
    assert (drive.run.steps_executed, drive.run.frames[0].started_at) == (1, NOW + timedelta(seconds=3))


def test_each_visit_of_a_step_counts_its_attempts_from_1() -> None:
    left = [2]

    def flaky(given: object) -> object:
        left[0] -= 1
        if left[0] >= 0:
            raise Failed
        return given

    steps = {"each": loop("say"), "say": node("t.it", retry={"initial_delay_seconds": 0})}
    drive = begin(plan(steps), {"items": [1, 2]}, fakes={"t.it": flaky}, contracts={"t.it": READ_ONLY})
    drive.go()
    assert [call.attempt for call in drive.made] == [1, 2, 3, 1]


def test_what_fails_in_a_turn_fails_the_step_whose_turn_it_was() -> None:
    steps = {"ask": ask("say"), "say": node(input={"v": path("input.gone")})}
    drive = begin(plan(steps))
    drive.go()
    drive.answer()
    assert drive.run.status == "running"
    assert error_of(drive.go()) == ("path_not_found", "say")


def test_the_step_that_meets_the_limit_is_not_executed() -> None:
    drive = begin(plan({"one": node(to="two"), "two": node()}, limits={"max_steps": 1}))
    assert error_of(drive.go()) == ("step_limit_exceeded", "two")
    assert [call.step_id for call in drive.made] == ["one"]


def test_a_due_frame_goes_on_where_it_was() -> None:
    drive = begin(plan({"nap": node("t.sleep", input={"seconds": value(2)}, to="say"), "say": node()}))
    drive.look()
    drive.wait(2)
    drive.look()
    assert [call.step_id for call in drive.made] == ["say"]
    assert drive.trace[0]["duration_ms"] == 2000
