"""Starting, hearing and killing the process that runs the workflow of the demo."""

import json
import subprocess
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from wf_core.errors import WfError
from wf_mcp.cli.place import Place
from wf_mcp.operations.models import RunSummary, TraceEntry


class WorkerDied(WfError):
    """The process that runs the workflow ended before the run stopped."""

    code = "internal_error"


class Worker:
    """A process of `wf_mcp.cli.demo.worker`. Leaving the context kills it."""

    def __init__(self, place: Place, verb: str, name: str, given: dict[str, Any]) -> None:
        arguments = [str(place.home), str(place.config), verb, name, json.dumps(given)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "wf_mcp.cli.demo.worker", *arguments], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        self._process.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        self._process.__exit__(kind, error, traceback)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def hear(self, tell: Callable[[TraceEntry], None]) -> RunSummary:
        """Hand on each step as it happens, until the run stops.

        Raises:
            WorkerDied: the process ended before that; what it said on stderr stands on the terminal.
        """
        for line in self._process.stdout or ():
            message = json.loads(line)
            if "run" in message:
                return RunSummary.model_validate(message["run"])
            tell(TraceEntry.model_validate(message["entry"]))
        raise WorkerDied(f"The process {self.pid} ended before the run stopped.", hint="wf doctor may say why.")

    def kill(self) -> int:
        """Kill the process with SIGKILL, and give its status: minus the number of the signal."""
        self._process.kill()
        return self._process.wait()
