"""The records of wf.json.

Reading and reporting faults is `load`; `${NAME}` in the texts is put in by `expansion` when a source starts.
"""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, model_validator

SOURCE_NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
SourceName = Annotated[str, StringConstraints(pattern=SOURCE_NAME_PATTERN)]
STD_SOURCE = "wf.std"
"""The source that is built in; no other may take its name."""

MAX_BYTES = 16_000_000

_SQLITE = "sqlite:///"


class ConfigRecord(BaseModel):
    """A frozen record that refuses unknown keys and converts nothing. Keys are spelled as MCP clients spell them."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class HintOverride(ConfigRecord):
    """What the operator knows of a tool's effects. What is left out stays as the server says, or cautious."""

    read_only: bool | None = Field(default=None, alias="readOnly")
    idempotent: bool | None = None
    destructive: bool | None = None


class McpServer(ConfigRecord):
    """An upstream MCP server: a command spoken to over stdio, or the URL of a Streamable HTTP endpoint."""

    type: Literal["stdio", "http", "streamable-http"] | None = None
    """As MCP clients write it; what the server is follows from `command` or `url` alone."""
    command: str | None = Field(default=None, min_length=1)
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    """Where the command runs, relative to the folder of the configuration file, which is the default."""
    url: str | None = Field(default=None, pattern=r"^(https?://[^/?#\s]|\$\{)")
    headers: dict[str, str] = {}
    enabled: bool = True
    hints: dict[str, HintOverride] = {}
    """By the name of the tool."""

    @model_validator(mode="after")
    def _one_transport(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("write either command or url")
        if self.type is not None and (self.type == "stdio") != (self.url is None):
            raise ValueError(f"type {self.type} does not go with {'command' if self.url is None else 'url'}")
        misplaced = [name for name in ("args", "env", "cwd") if getattr(self, name)] if self.url else []
        if self.url is None and self.headers:
            misplaced = ["headers"]
        if misplaced:
            raise ValueError(f"{misplaced[0]} does not go with {'command' if self.url is None else 'url'}")
        return self


class PythonModule(ConfigRecord):
    """A Python module whose decorated functions are capabilities."""

    module: str = Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$")
    path: str = "."
    """The folder that holds the module, relative to the folder of the configuration file."""
    enabled: bool = True


class AgentEntry(ConfigRecord):
    """An agent that sessions and workflows name by its slug."""

    file: str = Field(pattern=r"^[^\x00]+$")
    """The agent file, relative to the folder of the configuration file."""


class Config(ConfigRecord):
    """Everything in wf.json. The default is what holds without a file."""

    store: str | None = None
    """Where runs, artifacts and deployments are kept; in files below the home when left out."""
    max_bytes: int = Field(default=MAX_BYTES, gt=0)
    """The largest input, payload or result, as compact JSON in UTF-8."""
    mcp_servers: dict[SourceName, McpServer] = Field(default={}, alias="mcpServers")
    python_sources: dict[SourceName, PythonModule] = Field(default={}, alias="pythonSources")
    agents: dict[SourceName, AgentEntry] = {}
    """By slug."""

    _file: Path | None = PrivateAttr(default=None)
    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="after")
    def _one_source_a_name(self) -> Self:
        taken = {STD_SOURCE} & {*self.mcp_servers, *self.python_sources}
        if both := taken or set(self.mcp_servers) & set(self.python_sources):
            raise ValueError(f"two sources are called {min(both)}")
        return self

    @property
    def file(self) -> Path | None:
        """The file that this was read from. None when there is none."""
        return self._file

    @property
    def folder(self) -> Path:
        """What relative paths are relative to: the folder of the file, else the working directory."""
        return self._folder

    def store_url(self, home: Path) -> str:
        """Give the address of the stores: below the home when none is named. A relative file counts from `folder`."""
        if self.store is None:
            return home.resolve().as_uri()
        file = self.store.removeprefix(_SQLITE)
        if file in ("", self.store) or file.startswith("/"):
            return self.store
        return f"{_SQLITE}{quote(self.folder.resolve().as_posix())}/{file}"

    def at(self, file: Path | None, folder: Path) -> Self:
        """Give the same configuration, as read from `file`; relative paths count from `folder`."""
        copy = self.model_copy()
        copy.__pydantic_private__ = {"_file": file, "_folder": folder}
        return copy
