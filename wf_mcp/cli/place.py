"""Which home and which configuration a command works on."""

from dataclasses import dataclass, field
from pathlib import Path

from wf_mcp.config import Redactor


@dataclass(frozen=True, slots=True)
class Place:
    """None means the default: WF_HOME or the user's data folder, wf.json here or in the home."""

    home: Path | None = None
    config: Path | None = None
    redactor: Redactor = field(default_factory=Redactor, compare=False)
    """Keeps the secrets of the configuration out of everything that the command prints."""
