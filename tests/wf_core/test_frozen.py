"""A record that nobody changes is a plain dataclass otherwise."""

import pytest

from wf_core.frozen import frozen


@frozen
class Point:
    """Where something is."""

    x: int
    y: int = 2


def test_it_is_made_compared_hashed_and_shown_by_its_fields() -> None:
    assert Point(1) == Point(x=1, y=2) != Point(1, 3)
    assert len({Point(1), Point(1, 2), Point(3)}) == 2
    assert repr(Point(1)) == "Point(x=1, y=2)"


def test_it_is_taken_apart_by_match() -> None:
    match Point(1):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_it_takes_no_other_field() -> None:
    with pytest.raises(AttributeError):
        setattr(Point(1), "z", 3)  # noqa: B010  # the type checker would refuse it otherwise
