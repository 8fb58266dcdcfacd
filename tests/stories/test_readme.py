"""The first workflow and the first agent of the README, typed in as they stand there."""

import json
import re
import shlex
from pathlib import Path

from tests.stories.workplace import Workplace

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"`([a-z]+\.(?:py|json))`(?:(?!\n\n).)*\n\n```(?:python|json)\n(.*?)```", re.DOTALL)
WAITING = 3


def test_a_stranger_brings_a_workflow_of_their_own_to_its_end(workplace: Workplace) -> None:
    section = section_of("A workflow of your own in five minutes")
    files = dict(FILE.findall(section))
    assert set(files) == {"greetings.py", "wf.json", "hello.json"}
    for name, text in files.items():
        workplace.write(name, text)

    typed = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    assert len(typed) == 8
    run_id = "none yet"
    for line in typed:
        _, *arguments = shlex.split(line.replace("RUN_ID", run_id))
        done = workplace.wf(*arguments)
        assert done.returncode == (WAITING if "start" in arguments else 0), (line, done.stdout, done.stderr)
        if "start" in arguments:
            (run,) = json.loads(workplace.wf("runs", "list", "--json").stdout)["runs"]
            run_id = run["run_id"]

    ended = json.loads(workplace.wf("runs", "show", run_id, "--json").stdout)
    assert (ended["status"], ended["output"]) == ("completed", {"text": "Hello, Ada!"})


def test_a_stranger_lets_an_agent_wait_for_a_colleague(workplace: Workplace) -> None:
    """The agent of the README, with a script in the place of a model that costs money."""
    code = section_of("A workflow of your own in five minutes")
    workplace.write("greetings.py", dict(FILE.findall(code))["greetings.py"])
    workplace.write("wf.json", dict(FILE.findall(code))["wf.json"])
    section = section_of("Agent sessions")
    agent = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])
    workplace.write("helper.agent.json", json.dumps({**agent, "model": "scripted:answers.json"}))
    asked = {"toolCalls": [{"name": "greet", "arguments": {"name": "Ada"}}]}
    workplace.write("answers.json", json.dumps({"answers": [asked, {"text": "{{results}}"}]}))
    workplace.write("greeting.txt", "Good morning, Ada")

    typed = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0].splitlines()
    assert [line.split()[:3] for line in typed] == [
        ["wf", "agent", "run"],
        ["wf", "session", "complete"],
        ["wf", "session", "resume"],
    ]
    stopped = workplace.wf(*shlex.split(typed[0])[1:])
    report = json.loads(stopped.stdout)
    [call] = report["pending_calls"]
    assert (stopped.returncode, call["reason"]) == (WAITING, "a colleague greets")
    words = {"TOKEN": call["token"], "SESSION": report["session_id"]}
    done = stopped
    for line in typed[1:]:
        done = workplace.wf(*(words.get(word, word) for word in shlex.split(line)[1:]))
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert "- greet: Good morning, Ada" in done.stdout


def section_of(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
