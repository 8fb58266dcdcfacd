"""The first workflow of the README, typed in as it stands there."""

import json
import re
import shlex
from pathlib import Path

from tests.stories.workplace import Workplace

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
FILE = re.compile(r"`([a-z]+\.(?:py|json))`(?:(?!\n\n).)*\n\n```(?:python|json)\n(.*?)```", re.DOTALL)
WAITING = 3


def test_a_stranger_brings_a_workflow_of_their_own_to_its_end(workplace: Workplace) -> None:
    section = README.partition("\n## A workflow of your own in five minutes\n")[2].partition("\n## ")[0]
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
