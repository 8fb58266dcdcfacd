"""Copies a store as `wf store copy` does, when it is told to: `python -m tests.stories.copier FROM TO`.

Each line that it is told lets it go on, at most to the first thing that it has copied; each line that it says tells
how far it is. The last is what came out: `{"runs": …}` or `{"error": "CODE"}`.
"""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import anyio

from wf_core.errors import WfError
from wf_mcp.operations.copying import copy_store

_PROJECT = Path(__file__).parents[2]


@dataclass
class Copier:
    """The process, seen from the story."""

    process: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def start(cls, source: str, target: str) -> Generator[Self]:
        """Start a process that is ready to copy; it ends with the block."""
        command = [sys.executable, "-m", "tests.stories.copier", source, target]
        with subprocess.Popen(
            command, cwd=_PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            copier = cls(process)
            try:
                assert copier.hear() == "ready"
                yield copier
            finally:
                process.kill()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Wait for what it says next."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> Any:
        """Wait for what comes out."""
        while (said := self.hear()) == "copying":
            pass
        return said


def _say(what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


async def _pause(done: float, _what: str) -> None:
    if done == 1:
        _say("copying")
        sys.stdin.readline()


async def _copy(source: str, target: str) -> None:
    _say("ready")
    sys.stdin.readline()
    try:
        copied = await copy_store(source, target, progress=_pause)
    except WfError as error:
        _say({"error": error.code})
    else:
        _say({"runs": copied.runs})


if __name__ == "__main__":
    anyio.run(_copy, sys.argv[1], sys.argv[2])
