"""The demonstrator of agent sessions, exactly as a stranger plays it: `wf demo --session`."""

import json
import re
from typing import Any

import pytest

from tests.stories.workplace import Workplace

FIRST = """\
All three calls are complete. Results:
- fetch_local: the notes say of sourdough: feed the starter twice a day
- fetch_remote_a: external result for fetch_remote_a
- fetch_remote_b: external result for fetch_remote_b"""


def shown(workplace: Workplace, session_id: str) -> dict[str, Any]:
    place = ("--home", "work/home", "--config", "work/wf.json")
    return json.loads(workplace.wf(*place, "session", "show", session_id, "--json").stdout)


@pytest.mark.timeout(180)
def test_the_demo_of_a_session_does_what_it_says(workplace: Workplace) -> None:
    """One call done, two deferred, the process gone; delivered in the wrong order through two doors; three results."""
    played = workplace.wf("demo", "--session", "--into", "work")
    assert (played.returncode, played.stderr) == (0, "")
    said = played.stdout

    steps = re.findall(r"^(\d+)\. (.+?)  process (\d+)$", said, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, 12))
    assert len({pid for _, _, pid in steps}) == 11

    # What step 3 shows, before anything is delivered.
    third = said.partition("3. make its calls")[2].partition("No process is left")[0]
    assert re.findall(r"^ +([✓…✗]) +(\w+)", third, re.MULTILINE) == [
        ("✓", "fetch_local"), ("…", "fetch_remote_a"), ("…", "fetch_remote_b"),
    ]  # fmt: skip
    library, laboratory = re.findall(r"^ +(call_[0-9A-Z]{26}) *$", third, re.MULTILINE)

    # Two doors, the second call first.
    order = [said.index(f'wf capabilities call wf.complete_call \'{{"token": "{laboratory}"')]
    order += [said.index(f"wf session complete {library}"), said.index("6. go on")]
    assert order == sorted(order)

    first, second = dict.fromkeys(re.findall(r"session show (sess_[0-9A-Z]+)$", said, re.MULTILINE))
    told = shown(workplace, first)
    assert (told["status"], told["answer"], told["turns"]) == ("answered", FIRST, 4)
    results = told["conversation"][2]["results"]
    assert [(one["call_id"], one["name"], one["held"]) for one in results] == [
        ("t2.0", "fetch_local", False), ("t2.1", "fetch_remote_a", False), ("t2.2", "fetch_remote_b", False),
    ]  # fmt: skip

    isolated = shown(workplace, second)
    assert isolated["status"] == "answered"
    names = [one["name"] for one in isolated["conversation"][2]["results"]]
    assert names == ["fetch_local", "fetch_remote_a", "fetch_remote_b"]
    assert isolated["answer"] == FIRST.replace(
        "external result for fetch_remote_a", "the library says of sourdough: 14 books"
    )

    # Each tool of ours was carried out once for each session, and the isolated one in a process of its own.
    made = re.findall(r"(\w+) in process (\d+)", (workplace.folder / "work" / "carried_out.log").read_text("utf-8"))
    assert [name for name, _ in made] == ["fetch_local", "fetch_local", "fetch_remote_a"]
    pids = {number: pid for number, _, pid in steps}
    assert (made[0][1], made[1][1]) == (pids["3"], pids["8"])
    assert made[2][1] not in pids.values()
