"""Real upstream MCP servers that nobody here wrote, each in an environment of its own.

Installed once into `.cache/upstreams` (ignored by git) and found there again by every later test run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import filelock
import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "upstreams"
INSTALL_SECONDS = 300
TIME_SERVER = "mcp-server-time==2026.10.19"
GIT_SERVER = "mcp-server-git==2026.10.19"
FILES_SERVER = "@modelcontextprotocol/server-filesystem@2026.8.31"


def python_server(requirement: str) -> Path:
    """Give the command of a server from PyPI, as `uvx` would start it."""
    name = requirement.partition("==")[0]

    def install(folder: Path) -> None:
        # With the pip that is here: to give the environment one of its own takes longer than the rest.
        run(sys.executable, "-m", "venv", "--without-pip", str(folder))
        python = str(folder / "bin" / "python")
        run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", requirement)

    return installed(requirement, install) / "bin" / name


def npm_server(package: str, command: str) -> Path:
    """Give the command of a server from npm, as `npx` would start it; skip where there is no npm."""
    npm = shutil.which("npm")
    if npm is None:
        reason = f"npm is missing, so {package} cannot be installed"
        if "CI" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)

    def install(folder: Path) -> None:
        run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package)

    return installed(package.removeprefix("@").replace("/", "-"), install) / "node_modules" / ".bin" / command


def installed(name: str, install: Callable[[Path], None]) -> Path:
    """Give the folder of that name in the cache, installing into it first where no earlier run did so to the end."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / name
    done = folder / "installed"
    with filelock.FileLock(CACHE / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            install(folder)
            done.touch()
    return folder


def run(*command: str) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
