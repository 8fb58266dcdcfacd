"""Which records a list shows, without reading those that it does not show.

The index only proposes: whoever lists records reads each one that it names, and decides by what that says. So it may
name too many, never too few. Before a record changes it is marked *unsettled*, and that is on disk: it may be any then.
When the change is done it stands under its new status alone, which may be lost. One that somebody goes on with will
change again, so it stays unsettled, and need not be marked for that. Whoever lists meanwhile, or after a crash, has
`settle` look at the record itself.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final, Generic, TypeVar, cast

from wf_artifacts.errors import StoreError
from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.derived import DerivedDatabase, Statement, Statements
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.records import Record
from wf_artifacts.storage.statements import Value
from wf_core.errors import WfError

Id = TypeVar("Id", bound=str)
R = TypeVar("R", bound=Record)

_ENTER: Final = "INSERT OR IGNORE INTO {table} VALUES ({values})"
_UNSETTLE: Final = "INSERT OR IGNORE INTO unsettled VALUES (:{key})"
_SETTLE: Final = "DELETE FROM unsettled WHERE {key} = :{key}"
_KEEP_STATUS: Final = "DELETE FROM {table} WHERE {key} = :{key} AND status <> :status"
_FORGET: Final = "DELETE FROM {table} WHERE {key} = :{key}"
_READABLE: Final = "DELETE FROM unreadable WHERE {key} = :{key}"
_UNREADABLE: Final = "INSERT OR IGNORE INTO unreadable VALUES (:{key})"
_UNSETTLED: Final = "SELECT {key} FROM unsettled"
_IS_UNSETTLED: Final = "SELECT {key} FROM unsettled WHERE {key} = :{key}"
_MAY_BE_ANY: Final = """SELECT {key} FROM unreadable WHERE {key} = :{key}
    UNION SELECT {key} FROM unsettled WHERE {key} = :{key}"""
_IS_KNOWN: Final = """SELECT {key} FROM unreadable WHERE {key} = :{key}
    UNION SELECT {key} FROM unsettled WHERE {key} = :{key} UNION SELECT {key} FROM {table} WHERE {key} = :{key}"""
_IS_ENTERED: Final = "SELECT {key} FROM {table} WHERE {same}"
_NEWEST: Final = """SELECT {key} FROM {table}{known} UNION SELECT {key} FROM unreadable{any}
    UNION SELECT {key} FROM unsettled{any} ORDER BY {key} DESC LIMIT {batch}"""
_BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Listed(Generic[R]):
    """What of a kind of records its index holds."""

    record: type[R]
    table: str
    key: str
    """The field with the id. Ids sort by the time of creation."""
    filters: tuple[str, ...]
    """The fields that a list may be asked for. Only `status` ever changes."""
    held: str
    """The status of one that somebody goes on with."""
    version: int
    """Of what the index holds. Another one is made anew."""

    def schema(self) -> list[str]:
        """Write what makes an empty index."""
        columns = ", ".join(f"{name} TEXT" for name in (self.key, *self.filters))
        return [
            f"CREATE TABLE {self.table} ({columns}, PRIMARY KEY ({self.key}, status)) WITHOUT ROWID",
            f"CREATE TABLE unsettled ({self.key} TEXT PRIMARY KEY) WITHOUT ROWID",
            f"CREATE TABLE unreadable ({self.key} TEXT PRIMARY KEY) WITHOUT ROWID",
            # One for each combination of what a list is asked for, so that it never passes over records.
            *(
                f"CREATE INDEX by_{'_'.join(chosen)} ON {self.table} ({', '.join((*chosen, self.key))})"
                for size in range(1, len(self.filters) + 1)
                for chosen in combinations(self.filters, size)
            ),
        ]

    def newest(self, filters: Iterable[str], place: Iterable[str]) -> str:
        """Write the statement that lists the newest by these fields. One unreadable or unsettled may be any."""
        below = [f"{self.key} < :below" for _ in place]
        known = [*(f"{name} = :{name}" for name in filters), *below]
        return self.write(_NEWEST, known=_where(known), any=_where(below), batch=_BATCH)

    def write(self, statement: str, **more: object) -> str:
        """Write a statement for these records."""
        fields = (self.key, *self.filters)
        values = ", ".join(f":{name}" for name in fields)
        same = " AND ".join(f"{name} = :{name}" for name in fields)
        return statement.format(table=self.table, key=self.key, values=values, same=same, **more)

    def row(self, record: R) -> dict[str, Value]:
        """Give the row of a record."""
        return {name: getattr(record, name) for name in (self.key, *self.filters)}


class ListIndex(Generic[Id, R]):
    """The index of one kind of records of a home.

    What is *found* of a record is the record, the error that says why it cannot be read, or None where there is none.
    """

    def __init__(
        self,
        home: Home,
        folder: Path,
        listed: Listed[R],
        survey: Callable[[], Iterable[tuple[Id, R | WfError | None]]],
    ) -> None:
        """`survey` looks at every record, for an index that is made anew."""
        self.document: Final = home.document(folder)
        """How findings name it."""
        self._listed = listed
        self._survey = survey
        self._database = DerivedDatabase(home, folder, version=listed.version, schema=listed.schema(), fill=self._fill)

    def becoming(self, record: R) -> AbstractContextManager[None]:
        """Hold this while a record is made, or its status becomes that of `record`."""
        row = self._listed.row(record)
        identifier = cast("Id", row[self._listed.key])
        key = self._key(identifier)
        return self._database.changing(
            before=[(self._text(_UNSETTLE), key), (self._text(_ENTER), row)],
            after=() if row["status"] == self._listed.held else self._settled(identifier, record),
            unless=(self._text(_IS_UNSETTLED), key),
        )

    def vanishing(self, identifier: Id) -> AbstractContextManager[None]:
        """Hold this while a record is deleted."""
        return self._database.changing(
            before=[(self._text(_UNSETTLE), self._key(identifier))], after=self._settled(identifier, None)
        )

    def newest(self, *, below: Id | None = None, **asked: str | None) -> Iterator[Id]:
        """Give the records that may be meant, the newest first, from the one after `below` on. None means any."""
        filters: dict[str, Value] = {name: value for name, value in asked.items() if value is not None}
        while True:
            place: dict[str, Value] = {} if below is None else {"below": below}
            rows = self._database.rows(self._listed.newest(filters.keys(), place.keys()), filters | place)
            for (found,) in rows:
                below = cast("Id", found)
                yield below
            if len(rows) < _BATCH:
                return

    def settle(self, look: Callable[[Id], R | WfError | None]) -> None:
        """Look at the records that are unsettled, unless somebody is changing one at this moment.

        Nobody changes the status of a record, makes one or removes one while `look` is called.
        """
        unsettled = sorted(self.unsettled())
        for begin in range(0, len(unsettled), _BATCH):
            # A batch at a time: whoever makes or changes a record waits meanwhile.
            with self._database.alone() as alone, suppress(StoreError):
                if alone:
                    self._database.settle(self._looked_at(unsettled[begin : begin + _BATCH], look))

    def proposes(self, identifier: Id, found: R | WfError) -> bool:
        """Tell whether every list that a record may belong to, as it was found, names it."""
        is_record = isinstance(found, self._listed.record)
        if is_record and self._database.rows(self._text(_IS_ENTERED), self._listed.row(found)):
            return True
        known = _MAY_BE_ANY if is_record else _IS_KNOWN
        return bool(self._database.rows(self._text(known), self._key(identifier)))

    def alone(self) -> AbstractContextManager[bool]:
        """Tell whether nobody makes, removes or changes a record; then nobody does until the block ends."""
        return self._database.alone()

    def unsettled(self) -> set[Id]:
        """Give the records that somebody is changing, or was when a crash came."""
        return {cast("Id", identifier) for (identifier,) in self._database.rows(self._text(_UNSETTLED))}

    def make_anew(self) -> None:
        """Make it anew from the records that there are."""
        self._database.make_anew()

    def close(self) -> None:
        """Close the files of the index."""
        self._database.close()

    def _fill(self, connection: Connection) -> None:
        for identifier, found in self._survey():
            for text, parameters in self._settled(identifier, found):
                connection.run(text, parameters)

    def _looked_at(self, identifiers: Iterable[Id], look: Callable[[Id], R | WfError | None]) -> Statements:
        """Give what enters records as they are. One that cannot be looked at is left out."""
        statements: list[Statement] = []
        for identifier in identifiers:
            with suppress(StoreError):
                statements += self._settled(identifier, look(identifier))
        return statements

    def _settled(self, identifier: Id, found: R | WfError | None) -> Statements:
        """Give what enters a record as it was found."""
        key = self._key(identifier)
        if found is None:
            changes = [(_FORGET, key), (_READABLE, key)]
        elif isinstance(found, WfError):
            changes = [(_UNREADABLE, key)]
        else:
            row = self._listed.row(found)
            changes = [(_ENTER, row), (_KEEP_STATUS, row), (_READABLE, key)]
        return [(self._text(text), parameters) for text, parameters in (*changes, (_SETTLE, key))]

    def _key(self, identifier: Id) -> dict[str, Value]:
        return {self._listed.key: identifier}

    def _text(self, statement: str) -> str:
        return self._listed.write(statement)


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
