"""Finding and reading wf.json: one error that names every fault, and shows no value."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from wf_core.errors import NotJson, WfError
from wf_core.jsonvalue import loads
from wf_mcp.config.files import read_bounded
from wf_mcp.config.models import AgentEntry, Config, HintOverride, McpServer, PythonModule
from wf_mcp.config.problems import problems

FILE_NAME = "wf.json"


class InvalidConfig(WfError, ValueError):
    """The configuration file cannot be used. Nothing was started."""

    code = "invalid_config"


def load_config(file: Path | None, *, cwd: Path, home: Path) -> Config:
    """Read `file`, else wf.json in `cwd`, else in `home`; without any of them everything is left at its default.

    Raises:
        InvalidConfig: the named file is missing, or a file is unreadable, is no JSON, or has a key or value that is
            not understood. The message names the places but no values: they may be secret.
    """
    try:
        found = file or next((path for path in (cwd / FILE_NAME, home / FILE_NAME) if path.is_file()), None)
    except OSError as exc:
        raise InvalidConfig(
            f"Whether there is a {FILE_NAME} cannot be seen: {exc.strerror}.",
            hint="Name another home with --home DIR, or the file with --config FILE.",
        ) from exc
    if found is None:
        return Config().at(None, cwd)
    try:
        return parse_config(read_bounded(found), name=found.name).at(found, found.resolve().parent)
    except OSError as exc:
        raise InvalidConfig(
            f"{found.name} cannot be read: {exc.strerror}.", hint="Name the file with --config FILE."
        ) from exc


def parse_config(data: bytes, *, name: str = FILE_NAME) -> Config:
    """Read the text of a configuration file called `name`.

    Raises:
        InvalidConfig: as for `load_config`.
    """
    try:
        return Config.model_validate(loads(data, name))
    except NotJson as exc:
        raise InvalidConfig(
            f"{name} is no JSON: {exc.reason}.", hint="It takes no comments and no trailing commas."
        ) from exc
    except ValidationError as exc:
        faults = problems(exc, _known_keys)
        raise InvalidConfig(f"{name}: " + "; ".join(faults) + ".", hint=_HINT, details={"problems": faults}) from None


def _keys(record: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in record.model_fields.items()]


_HINT = (
    f"The keys are {', '.join(_keys(Config))}; of a server {', '.join(_keys(McpServer))}; "
    f"of a Python source {', '.join(_keys(PythonModule))}; of an agent {', '.join(_keys(AgentEntry))}; "
    f"of the hints of a tool {', '.join(_keys(HintOverride))}."
)
"""Names every key."""


def _known_keys(parents: Sequence[int | str]) -> list[str]:
    records: dict[tuple[Any, int], type[BaseModel]] = {
        ("mcpServers", 2): McpServer,
        ("mcpServers", 4): HintOverride,
        ("pythonSources", 2): PythonModule,
        ("agents", 2): AgentEntry,
    }
    return _keys(records.get((parents[0], len(parents)), Config) if parents else Config)
