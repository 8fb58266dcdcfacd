"""The sample workflow that ships with the program: finding it, and putting it into a folder of its own."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import wf_mcp
from wf_mcp.cli.paths import named
from wf_mcp.errors import InvalidArgument

FILES = ("ops.py", "notes_server.py", "publish_note.json")
NOTES = "notes"
PUBLISHED = "published"
PLAN = "publish_note.json"
CONFIG = "wf.json"


def sample() -> Path:
    """Find the folder of the sample: inside the installed package, or beside it in a checkout."""
    package = Path(wf_mcp.__file__).parent
    return next(folder for folder in (package / "examples", package.parent / "examples") if folder.is_dir())


def write_sample(target: Path, *, notes: Path | None = None) -> list[Path]:
    """Put the sample into `target`, and give the files written. With `notes` it works on that folder of Markdown files.

    Raises:
        InvalidArgument: one of the files is there already, and nothing was written; or the folder cannot be written.
    """
    source = sample()
    copied = list(FILES) + ([] if notes else [f"{NOTES}/{note.name}" for note in _notes(source)])
    with named(target):
        _refuse_to_overwrite(target, [*copied, CONFIG])
        target.mkdir(parents=True, exist_ok=True)
        for name in copied:
            (target / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source / name, target / name)
        (target / CONFIG).write_text(json.dumps(_config(notes), indent=2) + "\n", encoding="utf-8")
    return [target / name for name in [*copied, CONFIG]]


def write_session_sample(target: Path) -> list[Path]:
    """Put the sample of a session into `target`: two agents with their tools and a scripted model. Give the files.

    Raises:
        InvalidArgument: one of the files is there already, and nothing was written; or the folder cannot be written.
    """
    source = sample() / "session"
    names = sorted(path.name for path in source.iterdir() if path.is_file())
    with named(target):
        _refuse_to_overwrite(target, names)
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(source / name, target / name)
    return [target / name for name in names]


def _notes(source: Path) -> list[Path]:
    return sorted((source / NOTES).glob("*.md"))


def _config(notes: Path | None) -> dict[str, Any]:
    """Configure the sources; the server of the notes runs under the Python that runs this."""
    config: dict[str, Any] = json.loads((sample() / CONFIG).read_text(encoding="utf-8"))
    server = config["mcpServers"]["notes"]
    server["command"] = sys.executable
    server["args"] = [FILES[1], str(notes.resolve()) if notes else NOTES, PUBLISHED]
    return config


def _refuse_to_overwrite(target: Path, names: Sequence[str]) -> None:
    there = [name for name in names if (target / name).exists()]
    if there:
        raise InvalidArgument(
            f"{target} already has {', '.join(there)}.", hint="Nothing was written. Name an empty folder."
        )
