"""What a runner takes from where it stands: the folder of its file, our environment, and the Python sources."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wf_mcp.config import Config, Redactor
from wf_mcp.config.expansion import MissingVariables, expand

_HARMLESS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What a worker sees of our environment by itself."""


@dataclass(frozen=True, slots=True)
class PythonWorker:
    """A Python source as our own worker serves it."""

    module: str
    path: Path
    """The folder that holds the module."""

    def command(self, source: str, capability: str) -> list[str]:
        """Give the command that serves the source; `capability` is what it is called for, if that is known."""
        module = ["--module", f"{source}={self.module}", "--path", str(self.path)]
        only = ["--capability", capability] if capability else []
        return [sys.executable, "-m", "wf_mcp.isolation.worker", *module, *only]


def no_python(source: str) -> PythonWorker | None:  # noqa: ARG001
    """Serve no source."""
    return None


def python_workers(config: Config, environ: Mapping[str, str]) -> Callable[[str], PythonWorker | None]:
    """Let our own worker serve the Python sources of wf.json that are switched on and whose variables are there."""

    def find(source: str) -> PythonWorker | None:
        record = config.python_sources.get(source)
        if record is None or not record.enabled:
            return None
        try:
            filled = expand(record, environ)
        except MissingVariables:
            return None
        return PythonWorker(filled.module, (config.folder / filled.path).resolve())

    return find


@dataclass(frozen=True, slots=True)
class Place:
    """Where a runner stands."""

    folder: Path
    """What relative paths count from: that of the agent file."""
    environ: Mapping[str, str]
    redactor: Redactor
    python: Callable[[str], PythonWorker | None] = field(default=no_python)

    def harmless(self) -> dict[str, str]:
        """Give what every worker may know of our environment."""
        return {name: self.environ[name] for name in _HARMLESS if name in self.environ}
