"""What was worked out lately is given again; what was not asked for longest makes room."""

import pytest

from wf_mcp.execution.recent import Recent

pytestmark = pytest.mark.anyio


async def ask(recent: Recent[str, str], key: str, worked_out: list[str]) -> str:
    async def work_out() -> str:
        worked_out.append(key)
        return key.upper()

    return await recent.get(key, work_out)


async def test_a_value_is_worked_out_once() -> None:
    recent, worked_out = Recent[str, str](), list[str]()
    assert [await ask(recent, "a", worked_out) for _ in range(3)] == ["A", "A", "A"]
    assert worked_out == ["a"]


async def test_what_was_not_asked_for_longest_makes_room() -> None:
    recent, worked_out = Recent[str, str](most_kept=2), list[str]()
    for key in ("a", "b", "a", "c", "a", "b"):
        await ask(recent, key, worked_out)
    assert worked_out == ["a", "b", "c", "b"]


async def test_what_fails_is_tried_again() -> None:
    recent, worked_out = Recent[str, str](), list[str]()

    async def fail() -> str:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        await recent.get("a", fail)
    assert await ask(recent, "a", worked_out) == "A"


async def test_what_is_kept_is_given_in_the_place_of_what_is_the_same() -> None:
    recent = Recent[str, list[int]](most_kept=2)
    first, second = [1], [1]
    assert recent.keep("a", first) is first
    assert recent.keep("a", second) is first
    for key in "bc":
        recent.keep(key, [])
    assert recent.keep("a", second) is second
