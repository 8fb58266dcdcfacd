"""The program between us and a worker, by its pipes alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wf_mcp.isolation import supervise


class Supervised:
    """One run of it, with the writing end of its lifeline in hand."""

    def __init__(self, command: list[str], *, limits: str = "", afterwards: list[str] | None = None) -> None:
        lifeline, self.lifeline = os.pipe()
        self.report, report = os.pipe()
        words = [str(lifeline), str(report), limits, str(len(afterwards or [])), *(afterwards or []), *command]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervise.__file__, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=(lifeline, report),
        )
        os.close(lifeline)
        os.close(report)

    def end(self, *, let_go: bool = False) -> tuple[bytes, str]:
        """Give what was printed, and the report."""
        if let_go:
            os.close(self.lifeline)
        printed, _ = self.process.communicate(timeout=50)
        if not let_go:
            os.close(self.lifeline)
        report = os.read(self.report, 100).decode()
        os.close(self.report)
        return printed, report


@pytest.mark.parametrize(
    ("command", "report"),
    [
        (["sh", "-c", "exit 7"], "exit 7"),
        (["sh", "-c", "kill -15 $$"], "signal 15"),
        (["no-such-program-9"], "failed 2"),
        (["/etc/passwd"], "failed 13"),
    ],
)
def test_how_the_worker_ended_is_reported(command: list[str], report: str) -> None:
    assert Supervised(command).end()[1] == report


def test_closing_the_lifeline_ends_the_worker_and_what_comes_afterwards_comes(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    supervised = Supervised(["sh", "-c", "echo up; sleep 600"], afterwards=["touch", str(ended)])
    assert supervised.process.stdout is not None
    assert supervised.process.stdout.readline() == b"up\n"
    assert supervised.end(let_go=True) == (b"", "")
    assert ended.exists()


def test_what_comes_afterwards_comes_also_when_nothing_could_be_started(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    assert Supervised(["no-such-program-9"], afterwards=["touch", str(ended)]).end()[1] == "failed 2"
    assert ended.exists()


def test_children_that_outlive_the_worker_are_ended(tmp_path: Path) -> None:
    """One in a session of its own holds stdout: reading it ends, so it is gone."""
    printed, report = Supervised(["sh", "-c", "setsid sleep 600 & sleep 600 & echo done"]).end()
    assert (printed, report) == (b"done\n", "exit 0")


def test_limits_are_set_and_never_above_what_is_allowed() -> None:
    limits = "nproc=1000,fsize=2048,cpu=5"
    printed, _ = Supervised(["sh", "-c", "ulimit -t; ulimit -f; ulimit -c"], limits=limits).end()
    assert printed.split() == [b"5", b"4", b"0"]


def test_orphans_that_end_are_not_kept_as_zombies() -> None:
    """A worker may run for hours, and leave many."""
    leave = "i=0; while [ $i -lt 20 ]; do (sleep 0.01 &); i=$((i + 1)); done; sleep 1"
    look = "cat /proc/[0-9]*/stat 2>/dev/null; true"  # some process may end between its listing and its reading
    supervised = Supervised(["sh", "-c", f"{leave}; {look}"])
    printed, report = supervised.end()
    assert report == "exit 0"
    states = [line.rpartition(b")")[2].split()[:2] for line in printed.splitlines()]
    assert states
    assert [b"Z", str(supervised.process.pid).encode()] not in states
