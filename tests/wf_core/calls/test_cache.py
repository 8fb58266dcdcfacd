"""Calls are the same where they are canonically equal, and only there."""

from typing import Any

import pytest

from wf_core.calls.cache import cache_key


def key(arguments: Any = None, **changes: Any) -> str:
    given: dict[str, Any] = {"capability": "ops.count", "digest": "d", "scope": None, **changes}
    return cache_key(arguments=arguments, **given)


@pytest.mark.parametrize(
    ("one", "other"),
    [({"n": 1}, {"n": 1.0}), ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}), (10**22, 1e22)],
)
def test_canonically_equal_arguments_have_one_key(one: Any, other: Any) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (1, True), (0, False), ("x", True), ({}, []), (None, {}), ([1, 2], [2, 1]), (1, 1.5)]
)
def test_others_have_others(one: Any, other: Any) -> None:
    assert key({"n": one}) != key({"n": other})


def test_capability_contract_and_scope_are_of_the_key() -> None:
    keys = {
        key({}),
        key({}, capability="ops.other"),
        key({}, digest="e"),
        key({}, scope="sess_1"),
        key({}, scope="sess_2"),
        key({}, key="mine"),
        key({}, key=""),
        key("mine"),
    }
    assert len(keys) == 8
    assert all(len(one) == 64 for one in keys)


def test_a_key_of_the_policy_stands_for_the_arguments() -> None:
    assert key({"n": 1}, key="mine") == key({"n": 2}, key="mine")
