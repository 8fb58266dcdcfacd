"""An observer sees each change before and after it, and can stop it."""

import pytest

from wf_artifacts.storage.steps import Step, is_observed, observed, step, step_in_halves


def test_an_observer_is_told_before_and_after_a_change() -> None:
    told: list[Step | str] = []
    with observed(told.append), step("rename", "a.json"):
        told.append("renamed")
    assert told == [Step("rename", "a.json", "before"), "renamed", Step("rename", "a.json", "after")]


def test_a_write_is_told_halfway_too() -> None:
    told: list[Step | bytes] = []
    with observed(told.append), step_in_halves("write", "a.json", b"abcde") as parts:
        told.extend(parts)
    halfway = Step("write", "a.json", "halfway")
    assert told[1:-1] == [b"ab", halfway, b"cde"]


def test_nobody_is_told_and_nothing_is_halved_without_an_observer() -> None:
    with step_in_halves("write", "a.json", b"abcde") as parts:
        assert list(parts) == [b"abcde"]


def test_what_an_observer_raises_the_change_raises() -> None:
    def refuse(_: Step) -> None:
        raise OSError("scripted")

    with observed(refuse), pytest.raises(OSError, match="scripted"), step("unlink", "a"):
        pytest.fail("the change was made")


def test_an_observer_is_told_until_it_leaves() -> None:
    outer: list[Step] = []
    inner: list[Step] = []
    assert not is_observed()
    with observed(outer.append):
        assert is_observed()
        with observed(inner.append), step("fsync", "a"):
            pass
        with step("fsync", "b"):
            pass
    with step("fsync", "c"):
        pass
    assert {one.what for one in inner} == {"a"}
    assert {one.what for one in outer} == {"b"}
