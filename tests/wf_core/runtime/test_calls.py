"""Finding calls in flight and calls that wait."""

import pytest

from tests.wf_core.kernel import IDEMPOTENT, Driver, begin, echo, node, parallel, plan
from wf_core.errors import CallAlreadyCompleted, UnknownCall
from wf_core.runtime.calls import in_flight, pending
from wf_core.runtime.linking import link
from wf_core.state import Calling, Pending

STEPS = {"both": parallel({"once": "once", "again": "again"}), "once": node("t.echo"), "again": node("t.again")}


def drive_of_two() -> Driver:
    drive = begin(plan(STEPS), fakes={"t.again": echo}, contracts={"t.again": IDEMPOTENT})
    drive.look()
    return drive


def test_a_call_in_flight_is_given_with_its_frame_and_its_step() -> None:
    drive = drive_of_two()
    frame, code, call = in_flight(drive.program, drive.run, "c2")
    assert (call.id, code.capability, frame.step_id) == ("c2", "t.again", "again")
    assert isinstance(frame.activity, Calling)


def test_a_call_that_waits_is_given_with_its_frame_and_its_step() -> None:
    drive = drive_of_two()
    drive.crash()
    frame, code, waiting = pending(drive.run, "c1")
    assert (waiting.call.id, code.capability, frame.step_id) == ("c1", "t.echo", "once")
    assert isinstance(frame.activity, Pending)


def test_a_call_of_a_run_that_was_loaded_is_found_once_it_is_linked() -> None:
    drive = drive_of_two()
    drive.crash()
    drive.run.linked = None
    link(drive.run, drive.program)
    assert pending(drive.run, "c1")[2].call.id == "c1"


@pytest.mark.parametrize("call_id", ["c3", "c9", "", "one", "int_1"])
def test_a_call_that_is_not_in_flight_is_unknown(call_id: str) -> None:
    drive = drive_of_two()
    with pytest.raises(UnknownCall) as caught:
        in_flight(drive.program, drive.run, call_id)
    assert caught.value.details == {"call_id": call_id}


def test_a_call_that_waits_is_not_in_flight() -> None:
    drive = drive_of_two()
    drive.crash()
    with pytest.raises(UnknownCall):
        in_flight(drive.program, drive.run, "c1")


@pytest.mark.parametrize("call_id", ["c1", "c2"])
def test_a_call_that_was_made_and_waits_for_nobody_is_told_apart_from_one_that_never_was(call_id: str) -> None:
    drive = drive_of_two()
    drive.deliver("c1")
    with pytest.raises(CallAlreadyCompleted) as caught:
        pending(drive.run, call_id)
    assert (caught.value.code, caught.value.details) == ("call_already_completed", {"call_id": call_id})


@pytest.mark.parametrize("call_id", ["c3", "c0", "c01", "1", "c-1", "c1 ", "c\u0661", "c" + "9" * 5000, ""])
def test_what_was_never_the_id_of_a_call_is_unknown(call_id: str) -> None:
    drive = drive_of_two()
    with pytest.raises(UnknownCall) as caught:
        pending(drive.run, call_id)
    assert caught.value.code == "call_not_found"
