"""Statements come from files, with parameters bound and optional lines left out, for every database alike."""

import re

import pytest

from wf_artifacts.storage.postgres import POSTGRES
from wf_artifacts.storage.sqlite import SQLITE
from wf_artifacts.storage.statements import SQL, Dialect, Statement, load_migrations, load_statements

LISTING = """
SELECT a FROM t
WHERE a > :after
AND b = :wanted -- when given
ORDER BY a
"""


def test_a_parameter_is_spelled_as_the_database_wants_it() -> None:
    text = "SELECT :a, :b_2, '{}'::jsonb"
    assert Statement(text, SQLITE).text({}) == text
    assert Statement(text, POSTGRES).text({}) == "SELECT %(a)s, %(b_2)s, '{}'::jsonb"


def test_a_line_is_left_out_where_its_parameter_is_none() -> None:
    statement = Statement(LISTING, SQLITE)
    assert statement.text({"after": "", "wanted": None}) == "SELECT a FROM t\nWHERE a > :after\nORDER BY a"
    assert statement.text({"after": "", "wanted": 0}).splitlines()[2] == "AND b = :wanted"


def test_a_line_is_left_out_where_it_is_for_another_database() -> None:
    text = "SELECT a FROM t\nFOR UPDATE -- in postgres"
    assert Statement(text, SQLITE).text({}) == "SELECT a FROM t"
    assert Statement(text, POSTGRES).text({}) == "SELECT a FROM t\nFOR UPDATE"


def test_no_name_is_given_twice() -> None:
    names = [
        name
        for file in SQL.iterdir()
        if file.name.endswith(".sql")
        for name in re.findall(r"-- name: (\w+)", file.read_text("utf-8"))
    ]
    assert len(names) > 40
    assert sorted(names) == sorted(set(names)) == sorted(load_statements(SQLITE))


def test_every_database_has_the_same_migrations() -> None:
    sqlite, postgres = (
        sorted(file.name for file in (SQL / "migrations" / dialect.name).iterdir()) for dialect in (SQLITE, POSTGRES)
    )
    assert sqlite == postgres


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=lambda dialect: dialect.name)
def test_migrations_are_read_in_order_statement_by_statement(dialect: Dialect) -> None:
    migrations = load_migrations(dialect)
    assert migrations[0][0].startswith("CREATE TABLE wf_locks")
    for statement in (statement for migration in migrations for statement in migration):
        assert re.match(r"\s*(CREATE|INSERT|UPDATE|DELETE|ALTER|DROP)\b", statement)
        assert not statement.rstrip().endswith(";")
