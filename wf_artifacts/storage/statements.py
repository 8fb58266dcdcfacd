"""Statements kept in .sql files, read once and spelled for the database that they are meant for.

    -- name: list_runs
    SELECT run_id, record FROM wf_runs
    WHERE run_id < :before
    AND status = :status -- when given

A parameter is written `:name`. A line that ends with `-- when given` is left out where its parameter is None, one that
ends with `-- in postgres` where that is not the dialect. Nothing else of a statement ever depends on a value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

Value = str | int | bytes | None
Parameters = Mapping[str, Value]

SQL: Final = files("wf_artifacts.storage") / "sql"
NO_PARAMETERS: Final[Parameters] = {}

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")
_WHEN_GIVEN = "-- when given"
_ONLY_IN = re.compile(r" +-- in (\w+)$")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of database wants to be spoken to."""

    name: str
    """That of the folder with its migrations."""
    parameter: str
    """What stands for `:name`, as a replacement of `re.sub`."""


class Statement:
    """One statement in the spelling of a dialect."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._lines = [_Line(line, dialect) for line in text.strip().splitlines() if _is_for(dialect, line)]
        self._whole = None if any(line.only_with for line in self._lines) else self._join(NO_PARAMETERS)

    def text(self, parameters: Parameters) -> str:
        """Give the text for these parameters."""
        return self._join(parameters) if self._whole is None else self._whole

    def _join(self, parameters: Parameters) -> str:
        kept = (line.text for line in self._lines if line.only_with is None or parameters[line.only_with] is not None)
        return "\n".join(kept)


class _Line:
    def __init__(self, line: str, dialect: Dialect) -> None:
        text = line.removesuffix(_WHEN_GIVEN).rstrip()
        self.only_with = None if text == line else _PARAMETER.findall(text)[0]
        self.text = _PARAMETER.sub(dialect.parameter, _ONLY_IN.sub("", text))


def _is_for(dialect: Dialect, line: str) -> bool:
    only = _ONLY_IN.search(line)
    return only is None or only[1] == dialect.name


def load_statements(dialect: Dialect) -> dict[str, Statement]:
    """Read every statement of every room."""
    found: dict[str, Statement] = {}
    for file in SQL.iterdir():
        if file.name.endswith(".sql"):
            _, *named = _NAME.split(file.read_text("utf-8"))
            for name, text in zip(named[::2], named[1::2], strict=True):
                found[name] = Statement(text, dialect)
    return found


def load_migrations(dialect: Dialect) -> list[list[str]]:
    """Read what makes version n + 1 of the schema of version n, as lists of statements, from the first on."""
    scripts = sorted((SQL / "migrations" / dialect.name).iterdir(), key=lambda file: file.name)
    return [script.read_text("utf-8").strip().removesuffix(";").split(";\n") for script in scripts]
