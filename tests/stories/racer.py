"""A process with an App of its own, which does what it is told at the instant when it is told.

    racer = Racer.start(folder)
    racer.tell(("run_deployment", {"deployment_id": "question"}), ...)    # all of them at the same time
    racer.hear()                                                           # their answers, in the same order

The process itself is `python -m tests.stories.racer` in the folder of its wf.json.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import anyio
from anyio import to_thread

from wf_core.errors import WfError
from wf_mcp.app import App
from wf_mcp.operations import artifacts, calls, deployments, runs
from wf_mcp.operations.caller import LOCAL_PERSON

Wish = tuple[str, dict[str, Any]]
"""The name of an operation, and its arguments."""

_PROJECT = Path(__file__).parents[2]
_OPERATIONS: dict[str, Any] = {
    "save_artifact": artifacts.save_artifact,
    "create_deployment": deployments.create_deployment,
    "run_deployment": runs.run_deployment,
    "list_runs": runs.list_runs,
    "resume_run": runs.resume_run,
    "inspect_run": runs.inspect_run,
    "complete_call": calls.complete_call,
}
_OF_A_PERSON = {"complete_call": {"caller": LOCAL_PERSON}}


@dataclass
class Racer:
    """The process, seen from the story."""

    process: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def start(cls, folder: Path) -> Generator[Self]:
        """Start a racer that has opened its App; it ends with the block."""
        command = [sys.executable, "-m", "tests.stories.racer", str(folder)]
        with subprocess.Popen(
            command, cwd=_PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            racer = cls(process)
            try:
                assert racer.hear() == []
                yield racer
            except BaseException:
                process.kill()
                raise

    def tell(self, *wishes: Wish) -> None:
        """Let the racer begin with all of these, and do not wait for it."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(wishes) + "\n")
        self.process.stdin.flush()

    def hear(self) -> list[dict[str, Any]]:
        """Wait for the answers to what it was told last: what came out of each wish, or `{"error": …}`."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the racer ended with {self.process.wait()}; what it said on stderr stands below"
        return json.loads(line)

    def ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Ask for one thing, and wait for the answer."""
        self.tell((operation, arguments))
        return self.hear()[0]

    def deploy(self, plan: dict[str, Any]) -> str:
        """Save a plan and deploy it under its own name; give that name."""
        name = plan["name"]
        succeeded(self.ask("save_artifact", artifact_id=name, plan=plan))
        succeeded(self.ask("create_deployment", deployment_id=name, artifact_id=name))
        return name

    def stop(self) -> None:
        """Let the process stand still, and wait until it does."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def racers(folder: Path, number: int) -> Generator[list[Racer]]:
    """Start racers over one folder."""
    with ExitStack() as stack:
        yield [stack.enter_context(Racer.start(folder)) for _ in range(number)]


def at_once(wishes: list[tuple[Racer, list[Wish]]]) -> list[list[dict[str, Any]]]:
    """Let racers begin at the same instant, and wait for all of them."""
    for racer, wished in wishes:
        racer.tell(*wished)
    return [racer.hear() for racer, _ in wishes]


def succeeded(answer: dict[str, Any]) -> dict[str, Any]:
    """Give the answer to what has to succeed."""
    assert answer.get("error") is None, answer["error"]
    return answer


async def _do(app: App, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        done = await _OPERATIONS[name](app, **arguments, **_OF_A_PERSON.get(name, {}))
    except WfError as error:
        return {"error": {"code": error.code, "message": error.message}}
    except Exception:  # noqa: BLE001  # the story tells of it
        return {"error": {"code": "fault", "message": traceback.format_exc()}}
    return done.model_dump(mode="json")


async def _race(folder: Path) -> None:
    async with App.open(home=folder / "home", cwd=folder) as app:
        _say([])
        while line := await to_thread.run_sync(sys.stdin.readline):
            wishes: list[Wish] = json.loads(line)
            answers: dict[int, dict[str, Any]] = {}

            async def do(number: int, wish: Wish, answers: dict[int, dict[str, Any]]) -> None:
                answers[number] = await _do(app, *wish)

            async with anyio.create_task_group() as tasks:
                for number, wish in enumerate(wishes):
                    tasks.start_soon(do, number, wish, answers)
            _say([answers[number] for number in range(len(wishes))])


def _say(answers: list[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps(answers) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(_race, Path(sys.argv[1]))
