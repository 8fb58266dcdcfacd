"""Pages follow each other without gap or overlap, and cursors belong to one list."""

import pytest

from wf_artifacts.errors import InvalidCursor
from wf_artifacts.storage.pages import Page, ascending, collect, cursor_after, descending, every, read_cursor
from wf_core.errors import StateCorrupt


def test_a_cursor_leads_back_to_the_id_it_was_made_of() -> None:
    cursor = cursor_after("runs", "run_1")
    assert read_cursor("runs", cursor) == "run_1"
    assert "run_1" not in cursor


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "run_1",
        cursor_after("artifacts", "run_1"),
        cursor_after("runs", "../x"),
        cursor_after("runs", "a") + "=",
    ],
)
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        read_cursor("runs", cursor)


def test_both_directions_begin_after_the_cursor_though_its_item_is_gone() -> None:
    cursor = cursor_after("runs", "b")
    assert ascending("runs", ["c", "a", "d"], cursor) == ["c", "d"]
    assert descending("runs", ["c", "a", "d"], cursor) == ["a"]
    assert descending("runs", ["c", "a", "d"], None) == ["d", "c", "a"]


def test_the_last_page_says_so() -> None:
    assert collect("runs", ["a", "b"], str.upper, 2).next_cursor is None
    first = collect("runs", ["a", "b", "c"], str.upper, 2)
    assert (first.items, first.next_cursor) == (("A", "B"), cursor_after("runs", "b"))


def test_what_does_not_belong_makes_no_empty_last_page() -> None:
    page = collect("runs", ["a", "b", "c"], lambda identifier: None if identifier != "a" else identifier, 1)
    assert (page.items, page.next_cursor) == (("a",), None)


def test_not_more_is_read_than_the_page_and_one_item() -> None:
    read: list[str] = []
    collect("runs", map(str, range(100)), lambda identifier: read.append(identifier) or identifier, 3)
    assert read == ["0", "1", "2", "3"]


def test_what_is_damaged_is_on_the_page_where_it_stands_and_counts_for_nothing() -> None:
    def read(identifier: str) -> str:
        if identifier in "bd":
            raise StateCorrupt(identifier)
        return identifier

    first = collect("runs", list("abcde"), read, 2)
    assert (first.items, [damaged.identifier for damaged in first.damaged]) == (("a", "c"), ["b"])
    assert first.next_cursor is not None
    rest = collect("runs", ascending("runs", "abcde", first.next_cursor), read, 2)
    assert (rest.items, [damaged.identifier for damaged in rest.damaged]) == (("e",), ["d"])


def test_what_is_damaged_behind_a_full_page_is_on_the_next() -> None:
    def read(identifier: str) -> str:
        if identifier == "c":
            raise StateCorrupt(identifier)
        return identifier

    first = collect("runs", list("abc"), read, 2)
    assert (first.items, first.damaged) == (("a", "b"), ())
    rest = collect("runs", ascending("runs", "abc", first.next_cursor), read, 2)
    assert (rest.items, [damaged.identifier for damaged in rest.damaged], rest.next_cursor) == ((), ["c"], None)


@pytest.mark.anyio
async def test_every_item_of_a_list_is_given_from_a_cursor_on() -> None:
    async def pages(*, cursor: str | None, limit: int) -> Page[str]:
        return collect("runs", ascending("runs", "abcde", cursor), str.upper, limit)

    assert [item async for item in every(pages, limit=2)] == ["A", "B", "C", "D", "E"]
    assert [item async for item in every(pages, cursor=cursor_after("runs", "c"), limit=2)] == ["D", "E"]
