"""A program of its own that stands between us and one worker, so that nothing of the worker outlives the call.

    python -I -S supervise.py LIFELINE REPORT LIMITS COUNT [AFTERWARDS …] COMMAND …

It starts COMMAND in a session of its own with the resource LIMITS (`as=…,cpu=…`), and ends it with every descendant
when it exits, when the pipe LIFELINE is closed (its writing end is held by the server alone: killing the server closes
it), or when this program is killed itself. Then it runs AFTERWARDS, COUNT words. To the pipe REPORT it writes
`failed ERRNO`, or `exit STATUS` or `signal NUMBER`. It must start fast, and imports nothing that is ours.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time

_LIMITS = {
    "as": resource.RLIMIT_AS,
    "cpu": resource.RLIMIT_CPU,
    "nproc": resource.RLIMIT_NPROC,
    "fsize": resource.RLIMIT_FSIZE,
}
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_REAPING_SECONDS = 10.0
"""How long what was killed may take to go; only a process stuck in the kernel needs longer."""
_AFTERWARDS_SECONDS = 20.0


def main(arguments: list[str]) -> None:
    """Do what the module says. Everything it tells, it tells through REPORT."""
    lifeline, report, limits, count, *words = arguments
    afterwards, command = words[: int(count)], words[int(count) :]
    pipes = int(lifeline), int(report)
    for pipe in pipes:
        os.set_inheritable(pipe, False)  # it takes no keyword
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    ended, noting = os.pipe()
    os.set_blocking(noting, False)
    signal.set_wakeup_fd(noting, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _note)
    worker, fault = _start(command, _read_limits(limits))
    _let_go_of_streams()
    if fault:
        os.write(pipes[1], f"failed {fault}".encode())
    else:
        status = _watch(worker, pipes[0], ended)
        if status is not None:
            os.write(pipes[1], status.encode())
    if afterwards:
        _run(afterwards)


def _start(command: list[str], limits: list[tuple[int, int]]) -> tuple[int, int]:
    """Start the worker; give its process id, and the errno when it could not be started."""
    reading, writing = os.pipe()
    parent = os.getpid()
    worker = os.fork()
    if worker == 0:
        try:
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(127)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            for kind, limit in limits:
                resource.setrlimit(kind, (limit, limit))
            os.execvp(command[0], command)  # noqa: S606  # that is what it is for
        except OSError as exc:
            os.write(writing, str(exc.errno).encode())
        finally:
            os._exit(127)
    os.close(writing)
    fault = os.read(reading, 32)
    os.close(reading)
    if fault:
        os.waitpid(worker, 0)
    return worker, int(fault or 0)


def _read_limits(text: str) -> list[tuple[int, int]]:
    """Give limits as the kernel takes them, never above what we may have ourselves."""
    limits = [(resource.RLIMIT_CORE, 0)]
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        hard = resource.getrlimit(_LIMITS[name])[1]
        limits.append((_LIMITS[name], int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)))
    return limits


def _let_go_of_streams() -> None:
    """Hold no end of the worker's pipes: they are to close with the worker."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _watch(worker: int, lifeline: int, ended: int) -> str | None:
    """Wait for the worker's end, or ours; then end what is left. None when the worker was not done."""
    is_over = False
    while not is_over and not _has_exited(worker):
        readable, _, _ = select.select([lifeline, ended], [], [])
        is_over = lifeline in readable
        if ended in readable:
            os.read(ended, 4096)
    status = _end(worker)
    if is_over or status is None:
        return None
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def _has_exited(worker: int) -> bool:
    """Tell whether the worker has, and leave it to be reaped: until then nobody else can have its process id.

    Descendants that have come to us, and ended, are reaped.
    """
    while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
        if ended.si_pid == worker:
            return True
        os.waitpid(ended.si_pid, 0)
    return False


def _end(worker: int) -> int | None:
    """Kill the worker's group, and whatever has come to us because its own parent went; give the worker's status."""
    status: int | None = None
    until = time.monotonic() + _REAPING_SECONDS
    while time.monotonic() < until:
        if status is None:
            with contextlib.suppress(OSError):
                os.killpg(worker, signal.SIGKILL)
        for child in _children():
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == worker:
                    status = reaped[1]
        except ChildProcessError:
            break
        time.sleep(0.002)
    return status


def _children() -> list[int]:
    """Give the processes whose parent we are."""
    us, found = os.getpid(), list[int]()
    with contextlib.suppress(OSError):
        for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208  # pathlib takes longer than all of this
            with contextlib.suppress(OSError):
                stat = os.open(f"/proc/{name}/stat", os.O_RDONLY)
                # "pid (name) state ppid …"; the name may hold anything.
                fields = os.read(stat, 1024).rpartition(b")")[2].split()
                os.close(stat)
                if int(fields[1]) == us:
                    found.append(int(name))
    return found


def _run(command: list[str]) -> None:
    with contextlib.suppress(OSError):
        child = os.posix_spawnp(command[0], command, os.environ)
        until = time.monotonic() + _AFTERWARDS_SECONDS
        while time.monotonic() < until:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _note(_number: int, _frame: object) -> None:
    """Let the signal be written to the wakeup pipe; ignored ones are not."""


def _prctl(option: int, value: int) -> None:
    """Ask Linux for something; other systems do without."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
