"""Of servers over one home that speak at the same instant one is heard, and nothing is done twice."""

import sqlite3
from contextlib import closing
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.gate import Gate
from tests.stories.plans import ask, node, plan
from tests.stories.racer import Racer, Wish, at_once, racers, succeeded
from tests.stories.tally import Tally
from tests.stories.workplace import Workplace

RACERS = 8
ROUNDS = 200
STARTS = 200
"""By each racer."""

TOO_LATE = {"run_busy", "stale_interrupt", "run_not_interrupted"}
"""What those are told who answer a question that somebody else answers, or has answered."""

QUESTION = plan("question", ask=ask())
ASK_THEN_NOTE = plan(
    "asked",
    ask=ask(to="note"),
    note={**node("tally.note"), "input": {"what": {"path": "state.result"}}},
)
HOLD = plan("held", hold=node("gate.pass_through", result="result"))
HOLD_THEN_NOTE = plan("held", hold=node("gate.pass_through", to="note"), note=node("tally.note", what="once"))


@pytest.fixture(params=["file", "sqlite"])
def workplace(request: pytest.FixtureRequest, tmp_path: Path) -> Workplace:
    """A folder whose servers keep everything as files, or in SQLite."""
    return Workplace(tmp_path) if request.param == "file" else on_sqlite(tmp_path)


def on_sqlite(folder: Path) -> Workplace:
    return Workplace(folder, store=f"sqlite:///{folder}/wf.db")


@pytest.mark.timeout(120)
def test_of_eight_servers_that_answer_a_question_at_once_one_is_heard(workplace: Workplace) -> None:
    tally = Tally(workplace)
    heard: dict[str, str] = {}
    with racers(workplace.folder, RACERS) as all_racers:
        start: Wish = ("run_deployment", {"deployment_id": all_racers[0].deploy(ASK_THEN_NOTE)})
        asked = at_once([(racer, [start] * (ROUNDS // RACERS)) for racer in all_racers])
        for number, run in enumerate(map(succeeded, chain(*asked))):
            run_id = run["run_id"]
            first = number % RACERS
            answers = answer_at_once(all_racers[first:] + all_racers[:first], run_id, run["interrupt"]["id"])
            [(reply, done)] = [(reply, told) for reply, told in answers.items() if told.get("error") is None]
            late = [told["error"] for told in answers.values() if told is not done]
            assert [error for error in late if error["code"] not in TOO_LATE] == []
            heard[run_id] = reply
            assert (done["status"], done["output"]) == ("completed", {"result": reply})
            assert tally.noted == list(heard.values())
        [stored] = at_once([(all_racers[0], [("inspect_run", {"run_id": run_id}) for run_id in heard])])
    assert [run["output"]["result"] for run in stored] == list(heard.values())
    assert tally.noted == list(heard.values())


@pytest.mark.timeout(120)
def test_runs_that_eight_servers_start_at_once_are_all_there(workplace: Workplace) -> None:
    workplace.configure()
    with racers(workplace.folder, RACERS) as all_racers:
        start: Wish = ("run_deployment", {"deployment_id": all_racers[0].deploy(QUESTION)})
        started = [succeeded(run) for run in chain(*at_once([(racer, [start] * STARTS) for racer in all_racers]))]
        assert {run["status"] for run in started} == {"interrupted"}
        assert listed(all_racers[0]) == sorted((run["run_id"] for run in started), reverse=True)


def test_a_server_whose_run_was_taken_over_while_it_stood_still_writes_nothing_more(tmp_path: Path) -> None:
    workplace = on_sqlite(tmp_path)
    gate = Gate(workplace)
    with racers(tmp_path, 2) as (owner, other):
        run_id = hold(owner, other, HOLD, gate)
        stand_still(owner, tmp_path)
        taken = other.ask("inspect_run", run_id=run_id, wait_seconds=20)
        assert (taken["status"], [call["state"] for call in taken["pending_calls"]]) == ("interrupted", ["in_doubt"])
        gate.open()
        owner.go_on()
        assert owner.hear()[0]["error"]["code"] == "run_busy"
        assert [racer.ask("inspect_run", run_id=run_id) for racer in (owner, other)] == [taken, taken]
        done = other.ask("complete_call", token=taken["pending_calls"][0]["token"], result={"result": "by hand"})
    assert (done["status"], done["output"], gate.entered) == ("completed", {"result": "by hand"}, 1)


def test_a_server_whose_run_was_taken_over_while_it_stood_still_takes_no_further_step(tmp_path: Path) -> None:
    """The call that may be repeated is; the one after it, which may not, is made by the server that took over alone."""
    workplace = on_sqlite(tmp_path)
    gate, tally = Gate(workplace, "idempotent=True"), Tally(workplace)
    workplace.configure(pythonSources={name: {"module": name, "path": "."} for name in ("gate", "tally")})
    with racers(tmp_path, 2) as (owner, other):
        run_id = hold(owner, other, HOLD_THEN_NOTE, gate)
        stand_still(owner, tmp_path)
        gate.open()
        done = other.ask("inspect_run", run_id=run_id, wait_seconds=20)
        owner.go_on()
        assert owner.hear()[0]["error"]["code"] == "run_busy"
        assert owner.ask("inspect_run", run_id=run_id) == done
        assert succeeded(owner.ask("run_deployment", deployment_id="held"))["status"] == "completed"
    assert (done["status"], gate.entered, tally.noted) == ("completed", 3, ["once", "once"])


def answer_at_once(all_racers: list[Racer], run_id: str, question: str) -> dict[str, dict[str, Any]]:
    """Let each racer give a reply of its own, every other one naming the question: what it was told, by its reply."""
    replies = [f"{run_id} {number}" for number in range(len(all_racers))]
    wishes: list[Wish] = [
        ("resume_run", {"run_id": run_id, "interrupt_id": named, "resume_payload": {"reply": reply}})
        for named, reply in zip(cycle([None, question]), replies, strict=False)
    ]
    told = at_once([(racer, [wish]) for racer, wish in zip(all_racers, wishes, strict=True)])
    return {reply: answer for reply, [answer] in zip(replies, told, strict=True)}


def listed(racer: Racer) -> list[str]:
    """List every run, newest first."""
    found: list[str] = []
    cursor = None
    while True:
        page = succeeded(racer.ask("list_runs", cursor=cursor, limit=100))
        found += [run["run_id"] for run in page["runs"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def hold(owner: Racer, other: Racer, flow: dict[str, Any], gate: Gate) -> str:
    """Let one racer start a run, and wait for it, that comes as far as the gate; the other tells which it is."""
    owner.tell(("run_deployment", {"deployment_id": owner.deploy(flow)}))
    anyio.run(gate.until_entered)
    [run_id] = listed(other)
    return run_id


def stand_still(racer: Racer, folder: Path) -> None:
    """Stop a racer, and let its lease run out. One that is stopped while it writes would hold up all others."""
    with closing(sqlite3.connect(folder / "wf.db", timeout=0, isolation_level=None)) as database:
        while True:
            racer.stop()
            try:
                database.execute("UPDATE wf_owners SET expires_at = 0")
            except sqlite3.OperationalError:
                racer.go_on()
            else:
                return
