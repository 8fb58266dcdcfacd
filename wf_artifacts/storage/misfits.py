"""Values in a SQLite database of another type than their column has. SQLite stores whatever it is given.

Nothing that is read needs to expect them: lists pass over ids that are no text, and an examination names each here.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from wf_artifacts.storage.database import Transaction
from wf_core.frozen import frozen

_TYPES: Final = {"TEXT": "text", "INTEGER": "integer", "BLOB": "blob"}
"""What `typeof` gives for a value that fits a column."""
_NAMES: Final = {"text": "a text", "integer": "a number", "blob": "bytes", "real": "a fraction", "null": "nothing"}
_LONGEST_KEY: Final = 80
"""Characters of each part of the key by which a row is named."""
_TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'wf_*' AND NOT name GLOB 'wf_lost_*' ORDER BY 1"
)
_COLUMNS: Final = "SELECT name, type, \"notnull\" OR pk, pk FROM pragma_table_info('{table}')"


@frozen
class Misfit:
    """A value that does not fit."""

    row: str
    """The table, and what finds the row in it."""
    column: str
    problem: str


def misfits(transaction: Transaction) -> Iterator[Misfit]:
    """Look at every value of every row that counts."""
    for (table,) in transaction.ask(_TABLES):
        yield from _misfits_of(transaction, table)


class _Column(NamedTuple):
    name: str
    kind: str
    """What `typeof` gives for a value that fits."""
    required: bool
    is_key: bool

    def is_wrong(self) -> str:
        """Write what is so of a value that does not fit."""
        empty = "" if self.required else f" AND {self.name} IS NOT NULL"
        return f"typeof({self.name}) <> '{self.kind}'{empty}"


def _misfits_of(transaction: Transaction, table: str) -> Iterator[Misfit]:
    rows = transaction.ask(_COLUMNS.format(table=table))
    columns = [_Column(name, _TYPES[kind], bool(needed), bool(key)) for name, kind, needed, key in rows]
    keys = [column.name for column in columns if column.is_key] or [column.name for column in columns]
    shown = [f"substr(quote({key}), 1, {_LONGEST_KEY})" for key in keys]
    shown += [f"typeof({column.name})" for column in columns]
    wrong = " OR ".join(column.is_wrong() for column in columns)
    for row in transaction.ask(f"SELECT {', '.join(shown)} FROM {table} WHERE {wrong}"):  # noqa: S608 - our own names
        place = " and ".join(f"{key} = {value}" for key, value in zip(keys, row, strict=False))
        for column, found in zip(columns, row[len(keys) :], strict=True):
            if found != column.kind and (column.required or found != "null"):
                problem = f"its {column.name} is {_NAMES[found]}, not {_NAMES[column.kind]}"
                yield Misfit(f"{table} where {place}", column.name, problem)
