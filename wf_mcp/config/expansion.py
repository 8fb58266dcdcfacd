"""`${NAME}` in the configuration: the value comes from the environment when the source or runner starts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from wf_mcp.config.models import Config, ConfigRecord

Record = TypeVar("Record", bound=ConfigRecord)

_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(r"auth|cookie|credential|key|pass|secret|token", re.IGNORECASE)
_NO_SECRET = re.compile(r"HOME|USER|LOGNAME|PATH|PWD|SHELL|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|HOSTNAME")
"""Variables that every process has. Their values stand in ordinary data, which must not change on the way."""
_SCHEME = re.compile(r"^(?:Basic|Bearer|Token)\s+", re.IGNORECASE)


class MissingVariables(LookupError):
    """The environment lacks variables that a record needs; `names` in order of first use."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        super().__init__(", ".join(self.names))


def expand(record: Record, environ: Mapping[str, str]) -> Record:
    """Give the record with every `${NAME}` in its texts replaced. Only what is written as `${NAME}` is.

    Raises:
        MissingVariables: the environment lacks some; nothing was expanded.
    """
    if missing := [name for name in names_in(record) if name not in environ]:
        raise MissingVariables(missing)

    def fill(value: Any) -> Any:
        match value:
            case str():
                return _NAME.sub(lambda match: environ[match[1]], value)
            case list():
                return [fill(item) for item in cast("list[Any]", value)]
            case dict():
                return {key: fill(item) for key, item in cast("dict[str, Any]", value).items()}
            case _:
                return value

    return record.model_copy(update={name: fill(value) for name, value in _text_fields(record)})


def names_in(record: ConfigRecord) -> list[str]:
    """List the names that the texts of a record take from the environment."""
    return [match[1] for _, value in _text_fields(record) for text in _texts(value) for match in _NAME.finditer(text)]


def secrets_of(config: Config, environ: Mapping[str, str]) -> Iterator[str]:
    """Give every value that must never be shown: what `${NAME}` stands for, and credentials written in place.

    What every process has, such as HOME and PATH, is no secret.

    Sources that are disabled count too: their values are no less secret.
    """
    for server in config.mcp_servers.values():
        yield from secrets_in(server, {**server.env, **server.headers}, environ)
    for module in config.python_sources.values():
        yield from secrets_in(module, {}, environ)


def secrets_in(record: ConfigRecord, named: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[str]:
    """Give the secrets of one record; `named` are its variables and headers, which may hold credentials in place."""
    names = (name for name in names_in(record) if not _NO_SECRET.fullmatch(name))
    yield from (environ[name] for name in names if name in environ)
    for name, value in named.items():
        if _SECRET_NAME.search(name) and not _NAME.search(value):
            yield value
            yield _SCHEME.sub("", value)


def _text_fields(record: ConfigRecord) -> list[tuple[str, Any]]:
    return [(name, getattr(record, name)) for name in type(record).model_fields if name != "hints"]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in cast("list[Any]", value):
                yield from _texts(item)
        case dict():
            yield from _texts(list(cast("dict[str, Any]", value).values()))
        case _:
            return
