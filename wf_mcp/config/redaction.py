"""Keeping secrets out of everything that is stored or shown."""

import json
import logging
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from urllib.parse import quote

from wf_core.jsonvalue import JsonValue

REDACTED = "[redacted]"
SHORTEST = 4
"""Characters. A shorter value would be found everywhere by chance, and is no secret."""


class Redactor:
    """Replaces every secret it was told of. Secrets are only ever added."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        """Keep `value` out of everything from now on, also as it is spelled inside JSON and inside a URL."""
        if len(value) < SHORTEST:
            return
        self._secrets |= {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, "")}
        # The longest first: a secret may begin like another.
        longest_first = sorted(self._secrets, key=lambda secret: (-len(secret), secret))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """Give the text without secrets."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def json(self, value: JsonValue) -> JsonValue:
        """Give the value without secrets in texts and keys; the same object when it may be kept as it is."""
        if self._pattern is None:
            return value
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.json(item) for item in value]
            case dict():
                return {self.text(key): self.json(item) for key, item in value.items()}
            case _:
                return value


@contextmanager
def redacted_logs(redactor: Redactor, names: Iterable[str]) -> Generator[None, None, None]:
    """Keep secrets out of what the loggers of these names log meanwhile, and tracebacks with them: they show values."""
    redacting = _RedactingFilter(redactor)
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(redacting)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(redacting)


class _RedactingFilter(logging.Filter):
    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text = f"{text} ({record.exc_info[0].__name__})"
        record.msg, record.args = self._redactor.text(text), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True
