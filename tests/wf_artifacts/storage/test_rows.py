"""Lists of rows ask once, go on behind what is damaged, and name the row that is."""

from zlib import crc32

import pytest

from wf_artifacts.errors import InvalidCursor
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.records import Record
from wf_artifacts.storage.rows import FIRST, LAST, blob, checked, list_rows, load
from wf_core.errors import StateCorrupt


class Thing(Record):
    name: str


THING = Format("wf.thing", 1, Thing)


class Table:
    """Rows in order, and how often they were asked for."""

    def __init__(self, *names: str, damaged: str = "") -> None:
        self.rows: list[Row] = [(name, b"?" if name in damaged else THING.encode(Thing(name=name))) for name in names]
        self.asked = 0

    def fetch(self, after: str, limit: int) -> list[Row]:
        self.asked += 1
        return [row for row in self.rows if row[0] > after][:limit]

    def page(self, cursor: str | None = None, limit: int = 2) -> Page[Thing]:
        return list_rows("things", self.fetch, self.read, start=FIRST, cursor=cursor, limit=limit)

    @staticmethod
    def read(row: Row) -> Thing:
        return load(row[1], THING, f"things/{row[0]}", name=row[0])


def walk(table: Table) -> tuple[list[str], list[str]]:
    items: list[str] = []
    damaged: list[str] = []
    cursor: str | None = None
    while True:
        page = table.page(cursor)
        items += [item.name for item in page.items]
        damaged += [one.identifier for one in page.damaged]
        if (cursor := page.next_cursor) is None:
            return items, damaged


def test_a_page_takes_one_question() -> None:
    table = Table(*"abcde")
    first = table.page()
    assert ([item.name for item in first.items], table.asked) == (["a", "b"], 1)
    assert walk(table) == (list("abcde"), [])


def test_damaged_rows_are_named_and_the_others_are_all_met() -> None:
    for damaged in ("a", "ab", "bc", "abc", "e", "abcde"):
        healthy = [name for name in "abcde" if name not in damaged]
        assert walk(Table(*"abcde", damaged=damaged)) == (healthy, list(damaged))


def test_an_empty_list_has_one_page() -> None:
    assert Table().page() == Page((), None)


def test_a_foreign_cursor_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        Table("a").page("x")


def test_every_id_lies_between_first_and_last() -> None:
    assert all(FIRST < name < LAST for name in ("0", "A", "run_1", "z" * 128))


@pytest.mark.parametrize("value", ["text", None, 5])
def test_what_is_no_document_is_damage(value: object) -> None:
    with pytest.raises(StateCorrupt, match="document things/a is damaged"):
        blob(value, "things/a")


def test_what_is_not_what_the_column_beside_it_says_is_damage() -> None:
    assert checked(b"a", crc32(b"a"), "things/a") == checked(b"a", None, "things/a") == b"a"
    for value, checksum in ((b"b", crc32(b"a")), (b"a", 0), ("a", None)):
        with pytest.raises(StateCorrupt, match="document things/a is damaged"):
            checked(value, checksum, "things/a")


def test_the_document_of_another_row_is_damage() -> None:
    document = THING.encode(Thing(name="a"))
    assert load(document, THING, "things/a", name="a") == Thing(name="a")
    with pytest.raises(StateCorrupt, match="its name is 'a'"):
        load(document, THING, "things/b", name="b")
