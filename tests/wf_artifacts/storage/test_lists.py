"""An index names every record that may be meant, and few more: here of runs."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.samples import new_run_id, record
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.runs.files.folder import Found
from wf_artifacts.runs.files.index import RunIndex
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.steps import Step, observed
from wf_core.errors import StateCorrupt
from wf_core.ids import RunId


class Runs:
    """What there is, for the index to look at."""

    def __init__(self, home: Path) -> None:
        self.found: dict[RunId, Found] = {}
        self.index = RunIndex(Home(home), self.every)

    def every(self) -> Iterable[tuple[RunId, Found]]:
        return self.found.items()

    def look(self, run_id: RunId) -> Found:
        return self.found.get(run_id)

    def become(self, run: RunRecord) -> None:
        with self.index.becoming(run):
            self.found[run.run_id] = run

    def listed(self, **asked: Any) -> list[RunId]:
        return list(self.index.newest(**asked))


@pytest.fixture
def runs(home: Path) -> Iterator[Runs]:
    runs = Runs(home)
    yield runs
    runs.index.close()


def run(number: int, **fields: Any) -> RunRecord:
    return record(new_run_id(number), **fields)


def break_off(runs: Runs, becoming: RunRecord) -> None:
    """Let a change fail, as far as the index knows."""
    with pytest.raises(ZeroDivisionError), runs.index.becoming(becoming):
        _ = 1 / 0


def commits(act: Callable[[], None]) -> int:
    """Count the changes of the index."""
    made: list[Step] = []
    with observed(made.append):
        act()
    return sum((step.act, step.moment) == ("commit", "after") for step in made)


def test_a_run_is_named_from_before_it_is_there_until_after_it_is_gone(runs: Runs) -> None:
    with runs.index.becoming(run(1)):
        assert runs.listed() == [new_run_id(1)]
    assert runs.listed() == [new_run_id(1)]
    with runs.index.vanishing(new_run_id(1)):
        assert runs.listed() == [new_run_id(1)]
    assert runs.listed() == []


def test_a_run_stands_under_both_statuses_while_it_changes(runs: Runs) -> None:
    runs.become(run(1))
    with runs.index.becoming(run(1, status="completed")):
        assert runs.listed(status="running") == runs.listed(status="completed") == [new_run_id(1)]
        assert runs.listed() == [new_run_id(1)]
    assert runs.listed(status="running") == []
    assert runs.listed(status="completed") == [new_run_id(1)]


@pytest.mark.parametrize("became", ["running", "completed"])
def test_a_change_that_broke_off_is_settled_by_what_the_run_says(runs: Runs, became: Any) -> None:
    runs.become(run(1))
    break_off(runs, run(1, status="completed"))
    runs.found[new_run_id(1)] = run(1, status=became)
    assert runs.listed(status="running") == runs.listed(status="completed") == [new_run_id(1)]
    runs.index.settle(runs.look)
    assert {status: len(runs.listed(status=status)) for status in ("running", "completed")} == {
        "running": int(became == "running"),
        "completed": int(became == "completed"),
    }


def test_a_run_that_never_came_to_be_is_forgotten(runs: Runs) -> None:
    break_off(runs, run(1))
    runs.index.settle(runs.look)
    assert runs.listed() == []


def test_nothing_is_settled_while_somebody_changes_a_run(runs: Runs) -> None:
    looked: list[RunId] = []
    with runs.index.becoming(run(1)):
        runs.index.settle(looked.append)
    assert looked == []
    assert runs.listed() == [new_run_id(1)]


def test_a_run_that_cannot_be_looked_at_stays_unsettled(runs: Runs) -> None:
    def refuse(run_id: RunId) -> Found:
        raise StoreUnavailable("its folder", "scripted")

    break_off(runs, run(1))
    runs.index.settle(refuse)
    assert runs.listed() == [new_run_id(1)]
    runs.index.settle(runs.look)
    assert runs.listed() == []


def test_a_run_that_cannot_be_looked_at_keeps_no_other_unsettled(runs: Runs) -> None:
    def look(run_id: RunId) -> Found:
        if run_id == new_run_id(7):
            raise StoreUnavailable("its folder", "scripted")
        return runs.look(run_id)

    for number in range(150):
        runs.become(run(number))
    runs.index.settle(look)
    assert runs.index.unsettled() == {new_run_id(7)}
    assert len(runs.listed(status="running")) == 150


def test_a_run_that_somebody_goes_on_with_may_be_any_until_it_stops(runs: Runs) -> None:
    runs.become(run(1))
    assert runs.listed(status="running") == runs.listed(status="completed") == [new_run_id(1)]
    runs.become(run(1, status="completed"))
    assert runs.listed(status="running") == []
    assert runs.listed(status="completed") == [new_run_id(1)]
    assert runs.index.unsettled() == set()


def test_a_run_is_entered_when_somebody_begins_with_it_and_when_it_stops(runs: Runs) -> None:
    """Of both only the first is waited for: what is lost of the second leaves it unsettled."""
    assert commits(lambda: runs.become(run(1))) == 1
    assert commits(lambda: runs.become(run(1, status="interrupted"))) == 1
    assert commits(lambda: runs.become(run(1))) == 1
    assert commits(lambda: runs.become(run(1, status="completed"))) == 1


@pytest.mark.parametrize("became", ["running", "completed"])
def test_a_run_that_a_list_settled_meanwhile_is_entered_again_before_it_changes(runs: Runs, became: Any) -> None:
    runs.become(run(1))
    runs.index.settle(runs.look)
    assert runs.listed(status="completed") == []
    break_off(runs, run(1, status="completed"))
    runs.found[new_run_id(1)] = run(1, status=became)
    assert runs.listed(status=became) == [new_run_id(1)]
    runs.index.settle(runs.look)
    assert runs.listed(status=became) == [new_run_id(1)]
    assert len(runs.listed(status="running")) + len(runs.listed(status="completed")) == 1


def test_a_run_that_was_entered_in_an_index_that_is_gone_is_entered_again(runs: Runs) -> None:
    runs.become(run(1))
    runs.index.make_anew()
    assert runs.index.unsettled() == set()
    break_off(runs, run(1, status="completed"))
    assert runs.listed(status="completed") == [new_run_id(1)]


def test_a_run_that_is_unsettled_is_proposed_to_every_list(runs: Runs) -> None:
    runs.become(run(1))
    assert runs.index.proposes(new_run_id(1), run(1, status="completed"))
    runs.index.settle(runs.look)
    assert not runs.index.proposes(new_run_id(1), run(1, status="completed"))


def test_a_run_that_cannot_be_read_may_be_any(runs: Runs, home: Path) -> None:
    runs.found = {new_run_id(1): StateCorrupt("scripted"), new_run_id(2): run(2), new_run_id(0): run(0)}
    assert runs.listed() == [new_run_id(2), new_run_id(1), new_run_id(0)]
    assert runs.listed(principal="other", status="failed") == [new_run_id(1)]
    assert runs.listed(below=new_run_id(1)) == [new_run_id(0)]
    runs.become(run(1, status="completed"))
    assert runs.listed(status="completed") == [new_run_id(1)]
    assert runs.listed(principal="other") == []


def test_every_combination_of_filters_names_what_it_asks_for(runs: Runs) -> None:
    values = {"principal": ("local", "other"), "status": ("running", "failed"), "deployment_id": ("one", "two")}
    every = [dict(zip(values, kind, strict=True)) for kind in itertools.product(*values.values())]
    runs.found = {new_run_id(number): run(number, **kind) for number, kind in enumerate(every)}
    for asked in itertools.product(*((None, *choices) for choices in values.values())):
        wanted = dict(zip(values, asked, strict=True))
        expected = [
            new_run_id(number)
            for number, kind in enumerate(every)
            if all(wanted[name] in {None, kind[name]} for name in values)
        ]
        assert runs.listed(**wanted) == expected[::-1]
        assert runs.listed(**wanted, below=new_run_id(4)) == [one for one in expected[::-1] if one < new_run_id(4)]


def test_any_text_is_a_principal(runs: Runs) -> None:
    for number, principal in enumerate(("", "a\u0000b", "\U0001f600", "' OR 1=1 --")):
        runs.become(run(number, principal=principal, status="failed"))
        assert runs.listed(principal=principal) == [new_run_id(number)]


def test_more_runs_than_are_read_at_once_are_met_exactly_once(runs: Runs) -> None:
    runs.found = {new_run_id(number): run(number) for number in range(300)}
    assert runs.listed() == [new_run_id(number) for number in reversed(range(300))]
