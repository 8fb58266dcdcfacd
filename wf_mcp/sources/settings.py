"""What a source needs before it can start: to be switched on, and its variables in the environment."""

from collections.abc import Mapping
from typing import TypeVar

from wf_mcp.config.expansion import MissingVariables, expand
from wf_mcp.config.models import McpServer, PythonModule
from wf_mcp.sources.errors import SourceUnavailable

SourceRecord = TypeVar("SourceRecord", McpServer, PythonModule)


def resolve(name: str, record: SourceRecord, environ: Mapping[str, str]) -> SourceRecord:
    """Give a source's record with every `${NAME}` replaced.

    Raises:
        SourceUnavailable: it is switched off, or the environment lacks a variable.
    """
    if not record.enabled:
        raise SourceUnavailable(
            name,
            f"The source {name} is switched off.",
            code="source_disabled",
            hint='Set "enabled" to true in wf.json and restart.',
        )
    try:
        return expand(record, environ)
    except MissingVariables as exc:
        missing = " and ".join(exc.names)
        raise SourceUnavailable(
            name,
            f"The source {name} needs {missing} from the environment.",
            hint=f"Set {missing} where the server is started, and restart it.",
        ) from None
