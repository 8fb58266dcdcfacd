"""Which home and which configuration a command works on."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """None means the default: WF_HOME or the user's data folder, wf.json here or in the home."""

    home: Path | None = None
    config: Path | None = None
