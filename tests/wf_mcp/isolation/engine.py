"""A Docker engine of the tests' own: private socket, private storage, no network, stopped at the end."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wf_mcp.config import Redactor
from wf_mcp.isolation import DeploymentRunner, open_runner, process

IMAGE = "wf-test:1"
STARTING_SECONDS = 40
SHELL_WORKER = Path(process.__file__).with_name("worker.sh")

TOOLS = {
    "greet": 'echo "Hello $ARG_name"',
    "sum.json": "cat >/dev/null; echo $((ARG_left + ARG_right))",
    "shell": 'eval "$ARG_command" 2>&1',
    "wait": "sleep 600 & sleep 600",
}


def unusable() -> str | None:
    """Say why no engine can be started here. None where it can."""
    missing = [
        program for program in ("dockerd", "docker", "containerd", "runc", "busybox") if not shutil.which(program)
    ]
    if missing:
        return f"no container engine: {', '.join(missing)} not installed"
    if os.geteuid() != 0:
        return "no container engine: only root can start one"
    return None


class NoEngine(Exception):
    """There is one, but it cannot be used on this machine."""


@dataclass(frozen=True)
class Engine:
    """A running engine, and the image in it."""

    socket: Path
    log: Path

    @classmethod
    @contextmanager
    def start(cls) -> "Generator[Engine]":
        # A socket's path may have a hundred characters only; pytest's folders are longer.
        folder = Path(tempfile.mkdtemp(prefix="wf-engine-"))
        engine = cls(folder / "socket", folder / "log")
        options = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        with engine.log.open("wb") as log:
            daemon = subprocess.Popen(
                [
                    *("dockerd", "--host", f"unix://{engine.socket}", "--storage-driver", "vfs"),
                    *("--iptables=false", "--bridge=none"),
                    *(f"--{option}={folder / name}" for option, name in options.items()),
                ],
                stdout=log,
                stderr=log,
            )
        try:
            engine.wait_until_up(daemon)
            engine.import_image(folder)
            engine.try_out()
            yield engine
        finally:
            daemon.terminate()
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
            shutil.rmtree(folder, ignore_errors=True)

    def docker(self, *words: str, stdin: bytes | None = None) -> str:
        """Run a command of the engine, which must succeed."""
        done = subprocess.run(
            ["docker", *words], env=self.environ, input=stdin, capture_output=True, check=False, timeout=50
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    @property
    def environ(self) -> Mapping[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "DOCKER_HOST": f"unix://{self.socket}"}

    def containers(self) -> list[str]:
        """Name every container that there is, running or not."""
        return self.docker("ps", "--all", "--format", "{{.Names}} {{.Status}}").split("\n")[:-1]

    def wait_until_empty(self) -> None:
        while self.containers():
            time.sleep(0.05)

    def open(self, folder: Path, redactor: Redactor | None = None, **settings: Any) -> DeploymentRunner:
        """Open a runner that uses this engine and the image."""
        return open_runner(
            {"sandbox": "container", "image": IMAGE, **settings},
            folder=folder,
            redactor=redactor or Redactor(),
            environ={**self.environ, "WF_TEST_SECRET": "hush-hush-1"},
        )

    def wait_until_up(self, daemon: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + STARTING_SECONDS
        while daemon.poll() is None and time.monotonic() < until:
            # Nothing tells when the engine is ready but an answer of it.
            asked = subprocess.run(["docker", "version"], env=self.environ, capture_output=True, check=False)
            if asked.returncode == 0:
                return
            time.sleep(0.1)
        raise NoEngine(f"no container engine: dockerd does not come up: {self.log.read_text()[-500:]}")

    def try_out(self) -> None:
        """Run the image once: an engine may come up where it may not make containers."""
        try:
            self.docker("run", "--rm", "--network", "none", IMAGE, "true")
        except AssertionError as exc:
            raise NoEngine(f"no container engine: it runs no container here: {exc}") from None

    def import_image(self, folder: Path) -> None:
        """Make the image of busybox, the shell worker and its tools."""
        root = folder / "root"
        for name in ("bin", "tmp", "tools", "etc"):
            (root / name).mkdir(parents=True)
        # What is mounted there has the mode of the image's folder.
        (root / "tmp").chmod(0o1777)
        busybox = shutil.which("busybox")
        assert busybox is not None
        shutil.copy(busybox, root / "bin" / "busybox")
        applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
        for applet in {*applets} - {"busybox"}:
            (root / "bin" / applet).symlink_to("busybox")
        shutil.copy(SHELL_WORKER, root / "worker.sh")
        for name, script in TOOLS.items():
            (root / "tools" / name).write_text(f"#!/bin/sh\n{script}\n")
            (root / "tools" / name).chmod(0o755)
        archive = subprocess.run(["tar", "-C", str(root), "-c", "."], capture_output=True, check=True).stdout
        change = ["--change", 'CMD ["/bin/sh", "/worker.sh", "/tools"]']
        self.docker("import", *change, "-", IMAGE, stdin=archive)
