"""A small MCP server over a folder of Markdown notes, on stdio: python notes_server.py NOTES_DIR PUBLISHED_DIR."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

NoteName = Annotated[str, Field(description="The file's name, as list_notes gives it", examples=["heat-pump.md"])]


class NoteList(BaseModel):
    """The notes of the folder, by name."""

    notes: list[str]


class Note(BaseModel):
    """A note as it stands in its file."""

    name: str
    title: str
    text: str


class Written(BaseModel):
    """Where a text was written."""

    path: str
    bytes: int


def build(notes: Path, published: Path) -> MCPServer:
    """Serve the Markdown files of `notes`; what is published goes to `published`."""
    server = MCPServer("notes", version="1.0.0", instructions="Reads, writes and publishes Markdown notes.")

    def file_of(name: str) -> Path:
        """Find the file of a note, and nothing outside the folder."""
        if Path(name).name != name or not name.endswith(".md"):
            raise ToolError(f"{name!r} is not the name of a note: it is a file name that ends in .md.")
        return notes / name

    @server.tool(title="List notes", annotations=READS)
    def list_notes() -> NoteList:
        """List the notes of the folder."""
        return NoteList(notes=sorted(path.name for path in notes.glob("*.md")))

    @server.tool(title="Read a note", annotations=READS)
    def read_note(name: NoteName) -> Note:
        """Read one note: its title (the first heading, else the name) and its text."""
        path = file_of(name)
        if not path.is_file():
            raise ToolError(f"There is no note {name!r}. There are: {', '.join(list_notes().notes) or 'none'}.")
        text = path.read_text(encoding="utf-8")
        headings = (line.removeprefix("# ").strip() for line in text.splitlines() if line.startswith("# "))
        return Note(name=name, title=next(headings, name), text=text)

    @server.tool(title="Write a note", annotations=WRITES)
    def write_note(name: NoteName, text: str) -> Written:
        """Write a note, over the one of that name if there is one."""
        return write(file_of(name), text)

    @server.tool(title="Publish a note", annotations=WRITES)
    def publish_note(name: NoteName, text: str) -> Written:
        """Put a text into the folder of what is published, under the note's name."""
        published.mkdir(parents=True, exist_ok=True)
        today = datetime.now(UTC).date().isoformat()
        return write(published / file_of(name).name, f"---\npublished: {today}\n---\n\n{text}")

    return server


def write(path: Path, text: str) -> Written:
    """Write `text` to `path`, as UTF-8."""
    data = text.encode("utf-8")
    path.write_bytes(data)
    return Written(path=str(path), bytes=len(data))


if __name__ == "__main__":
    build(notes=Path(sys.argv[1]), published=Path(sys.argv[2])).run()
