"""What only databases can do to runs: rows that are damaged, lists that need an index, writers that wait."""

import threading
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.samples import checkpoint, environment, inputs, new_run_id, record, start_and_release
from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.models import RECORD
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage import threads
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.digests import principal_digest
from wf_artifacts.storage.postgres import POSTGRES
from wf_artifacts.storage.sqlite import SQLITE, SqliteDatabase
from wf_artifacts.storage.statements import Statement, load_statements
from wf_artifacts.storage.steps import Step, observed
from wf_core.errors import FormatTooNew, StateCorrupt

pytestmark = pytest.mark.anyio


@pytest.fixture
def runs(database: Database) -> Iterator[SqlRuns]:
    opened = SqlRuns(database)
    yield opened
    opened.close()


class TestSyncing:
    @pytest.mark.parametrize(("seconds", "at_once"), [(60.0, True), (0.0, False)])
    async def test_inputs_are_synced_at_once_where_that_costs_less(
        self, database: Database, runs: SqlRuns, monkeypatch: pytest.MonkeyPatch, seconds: float, at_once: bool
    ) -> None:
        """A server is asked in a thread, however fast it answers."""
        monkeypatch.setattr(threads, "AT_ONCE_SECONDS", seconds)
        in_loop: list[bool] = []

        def note(step: Step) -> None:
            if (step.act, step.moment, step.what) == ("change", "before", "insert_inputs"):
                in_loop.append(threading.current_thread() is threading.main_thread())

        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        with observed(note):
            for number in range(3):
                await runs.append(claim, inputs(begun, since=number), sync=True)
        await claim.release()
        at_once = at_once and isinstance(database, SqliteDatabase)
        assert in_loop == [False, at_once, at_once]
        assert len(await runs.load_journal(begun.run_id)) == 3

    @pytest.mark.parametrize("seconds", [60.0, 0.0])
    async def test_a_step_is_one_statement(
        self, runs: SqlRuns, monkeypatch: pytest.MonkeyPatch, seconds: float
    ) -> None:
        """Every chain of calls that may not be repeated waits for it."""
        monkeypatch.setattr(threads, "AT_ONCE_SECONDS", seconds)
        changed: list[str] = []

        def note(step: Step) -> None:
            if (step.act, step.moment) == ("change", "before") and threading.current_thread().name != "wf-lease":
                changed.append(step.what)

        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        with observed(note):
            for number in range(4):
                await runs.append(claim, inputs(begun, since=number), sync=number != 1)
        assert changed == ["insert_inputs"] * 4
        await claim.release()

    async def test_inputs_wait_in_a_thread_while_somebody_else_writes(
        self, database: Database, open_database: Open, runs: SqlRuns, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(threads, "AT_ONCE_SECONDS", 60.0)
        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        await runs.append(claim, inputs(begun), sync=True)
        async with anyio.create_task_group() as tasks:
            for number, other in enumerate((database, open_database()), 1):
                with other.writing() as transaction:
                    transaction.change("put_deployment", deployment_id="a", document=b"{}")
                    tasks.start_soon(partial(runs.append, claim, inputs(begun, since=number), sync=True))
                    await anyio.wait_all_tasks_blocked()
                while len(await runs.load_journal(begun.run_id)) == number:
                    await anyio.lowlevel.checkpoint()
        await claim.release()


class TestDamage:
    async def test_a_damaged_run_is_told_and_the_others_are_listed(self, database: Database, runs: SqlRuns) -> None:
        kept = [record(new_run_id(number)) for number in range(4)]
        await start_and_release(runs, *kept)
        for damaged, document in ((kept[1], b""), (kept[2], RECORD.encode(kept[3]))):
            text = "UPDATE wf_runs SET record = :document WHERE run_id = :run_id"
            run_sql(database, text, document=document, run_id=damaged.run_id)
            with pytest.raises(StateCorrupt, match=f"document runs/{damaged.run_id} is damaged"):
                await runs.load(damaged.run_id)
        page = await runs.list_runs(principal="local", limit=10)
        assert page.items == (kept[3], kept[0])
        assert [one.identifier for one in page.damaged] == [kept[2].run_id, kept[1].run_id]
        assert await runs.abandoned() == [kept[3].run_id, kept[0].run_id]

    async def test_a_run_of_a_newer_version_is_told_as_such(self, database: Database, runs: SqlRuns) -> None:
        await start_and_release(runs, record())
        newer = RECORD.encode(record()).replace(b'"version":2', b'"version":999', 1)
        run_sql(database, "UPDATE wf_runs SET record = :newer", newer=newer)
        with pytest.raises(FormatTooNew):
            await runs.load(record().run_id)
        assert len((await runs.list_runs(principal=None, limit=10)).damaged) == 1

    async def test_a_run_without_its_head_is_damaged(self, database: Database, runs: SqlRuns) -> None:
        await start_and_release(runs, record())
        run_sql(database, "DELETE FROM wf_run_heads")
        with pytest.raises(StateCorrupt, match=f"document runs/{record().run_id}"):
            await runs.load(record().run_id)
        assert len((await runs.list_runs(principal=None, limit=10)).damaged) == 1
        with pytest.raises(RunNotFound):
            await runs.claim(record().run_id)


class TestListing:
    async def test_a_list_takes_one_statement_however_long_it_is(
        self, runs: SqlRuns, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        rows = Transaction.rows

        def counted(transaction: Transaction, name: str, **parameters: Any) -> list[Row]:
            asked.append(name)
            return rows(transaction, name, **parameters)

        for first in (0, 3):
            await start_and_release(runs, *(record(new_run_id(first + number)) for number in range(3 + first * 10)))
            with monkeypatch.context() as counting:
                counting.setattr(Transaction, "rows", counted)
                await runs.list_runs(principal=None, limit=20)
        assert asked == ["list_runs"] * 2

    async def test_a_list_is_read_from_an_index_whatever_is_asked_for(self, database: Database, runs: SqlRuns) -> None:
        await start_and_release(runs, record())
        for given in product((False, True), repeat=3):
            values = (principal_digest("local"), "running", "publish")
            asked = {
                name: value if wanted else None
                for name, value, wanted in zip(("principal", "status", "deployment_id"), values, given, strict=True)
            }
            plan = explain(database, "list_runs", before="~", limit=20, **asked)
            assert "INDEX" in plan.upper()
            for costly in ("SCAN run\n", "TEMP B-TREE", "Seq Scan on wf_runs", "Sort"):
                assert costly not in plan

    @pytest.mark.parametrize("principals", [1, 1000])
    async def test_who_asks_for_a_status_that_no_run_of_a_deployment_has_has_none_of_them_read(
        self, database: Database, runs: SqlRuns, principals: int
    ) -> None:
        await start_and_release(runs, record())
        fill(database, principals)
        asked = {"principal": b"p0", "status": "failed", "deployment_id": "publish"}
        plan = explain(database, "list_runs", before="~", limit=20, **asked)
        assert "Filter" not in plan
        assert all(f"{column}=?" in plan or f"({column} = " in plan for column in asked)

    @pytest.mark.parametrize("text", ["' OR 1=1 --", "a') OR 1=1 --", "$.x", '"', "%", "a\u0000b", "\u00e9"])
    async def test_what_is_asked_for_is_never_part_of_a_statement(self, runs: SqlRuns, text: str) -> None:
        await start_and_release(runs, record())
        asked: list[dict[str, Any]] = [
            {"principal": text},
            {"principal": "local", "deployment_id": text},
            {"principal": "local", "status": text.replace("\u0000", "")},
        ]
        for one in asked:
            assert (await runs.list_runs(**one, limit=10)).items == ()


def fill(database: Database, principals: int) -> None:
    """Add two thousand runs that were never carried out, and let nobody gather statistics of them."""
    dialect = SQLITE if isinstance(database, SqliteDatabase) else POSTGRES
    text = """INSERT INTO wf_runs (run_id, principal, deployment_id, status, record)
    VALUES (:run_id, :principal, 'publish', 'completed', :principal)"""
    rows = [{"run_id": f"a{number}", "principal": b"p%d" % (number % principals)} for number in range(2000)]
    connection = database.connect()
    try:
        connection.begin(writing=True)
        connection.run_many(Statement(text, dialect).text(rows[0]), rows)
        connection.commit()
    finally:
        connection.close()


def explain(database: Database, name: str, **parameters: Any) -> str:
    """Say how the database means to answer, even if the tables were large."""
    connection = database.connect()
    try:
        if isinstance(database, SqliteDatabase):
            text = load_statements(SQLITE)[name].text(parameters)
            return "".join(f"{row[3]}\n" for row in connection.run(f"EXPLAIN QUERY PLAN {text}", parameters).rows)
        for setting in ("enable_seqscan", "enable_sort"):
            connection.run(f"SET {setting} = off")
        text = load_statements(POSTGRES)[name].text(parameters)
        return "".join(f"{line}\n" for (line,) in connection.run(f"EXPLAIN {text}", parameters).rows)
    finally:
        connection.close()
