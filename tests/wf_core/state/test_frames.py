"""Records of frames: the error as users see it, and what counts when frames are compared."""

from wf_core.state import Calling, Frame, Layer, RunError


def test_an_error_is_shown_with_everything_that_is_known() -> None:
    error = RunError("timeout", "It took too long.", "call", ("each", "0", "call"), 2, "unknown", {"seconds": 5})
    assert error.to_json() == {
        "code": "timeout",
        "message": "It took too long.",
        "step_id": "call",
        "path": ["each", "0", "call"],
        "attempt": 2,
        "side_effects": "unknown",
        "details": {"seconds": 5},
    }


def frame() -> Frame:
    return Frame(1, "item", 0, 0, 2, None, "call", Calling("c1"))


def test_frames_are_the_same_whatever_has_been_derived_of_them() -> None:
    linked = frame()
    linked.awake, linked.busy, linked.prefix, linked.layer = True, 1, ("each",), Layer({"a": 1})
    assert linked == frame()
    linked.attempt = 2
    assert linked != frame()


def test_a_frame_sees_nothing_until_it_is_linked() -> None:
    assert frame().layer.whole() == {}
    assert frame().layer.parent is None
