"""A run between two transitions."""

from tests.wf_core.kernel import begin, each, node, plan
from wf_core.state import RunState


def test_taking_the_trace_drains_it() -> None:
    run = RunState("run_1")
    run.fresh_trace += [b"{}", b"[]"]
    assert run.take_trace() == [b"{}", b"[]"]
    assert run.take_trace() == []


def test_runs_are_the_same_whatever_is_not_stored_of_them() -> None:
    one, other = RunState("run_1"), RunState("run_1")
    one.fresh_trace.append(b"{}")
    one.linked = object()
    assert one == other
    one.steps_executed = 1
    assert one != other


def test_the_pending_calls_of_a_run_are_those_of_its_frames() -> None:
    drive = begin(plan({"each": each("say"), "say": node()}), {"items": [1, 2, 3]})
    drive.look()
    drive.deliver("c2")
    assert drive.run.pending_calls == {}
    drive.crash()
    assert list(drive.run.pending_calls) == ["c1", "c3"]
    drive.settle("c1", "failed")
    assert list(drive.run.pending_calls) == ["c3"]
