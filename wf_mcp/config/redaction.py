"""Keeping secrets out of everything that is stored or shown."""

import itertools
import json
import logging
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from urllib.parse import quote

from wf_core.jsonvalue import JsonValue

REDACTED = "[redacted]"
SHORTEST = 4
"""Characters. A shorter value would be found everywhere by chance, and is no secret."""

_ESCAPE = re.compile(r"(%|\\x|\\u)([0-9A-Fa-f]{2}(?:[0-9A-Fa-f]{2})?)")
_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_REPLACEMENTS = str.maketrans("", "", "?\ufffd")


class Redactor:
    """Replaces every secret it was told of. Secrets are only ever added."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._numbers: set[str] = set()
        self._number_pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        """Keep `value` and each of its lines out of everything from now on, as JSON, Python and URLs spell them too.

        And as they read where somebody took the bytes of one encoding for those of another.
        """
        parts = {part for part in (value, value.strip(), *map(str.strip, value.splitlines())) if len(part) >= SHORTEST}
        if not parts:
            return
        for part in parts:
            self._secrets |= {*_spelled(part), *_misread(part)}
            self._numbers |= {number for number in _as_numbers(part) if len(number) >= SHORTEST}
        self._pattern = _any_of(self._secrets)
        self._number_pattern = _any_of(self._numbers) if self._numbers else None

    @property
    def longest(self) -> int:
        """Characters of the longest secret: where a text is cut, as many before the cut may be the begin of one."""
        return max(map(len, self._secrets), default=0)

    def text(self, text: str) -> str:
        """Give the text without secrets."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def json(self, value: JsonValue) -> JsonValue:
        """Give the value without secrets in texts, keys and numbers; the same object when it may be kept as it is.

        A text stands in the place of a number that holds one.
        """
        if self._pattern is None:
            return value
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.json(item) for item in value]
            case dict():
                return {key: self.json(item) for key, item in self._with_keys_apart(value)}
            case int() | float() if self._number_pattern is not None and not isinstance(value, bool):
                return REDACTED if self._number_pattern.search(repr(value)) else value
            case _:
                return value

    def _with_keys_apart(self, value: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
        """Yield the entries under keys without secrets, those that would become one key with a number."""
        taken = {key for key in value if self.text(key) == key}
        for key, item in value.items():
            name = redacted = self.text(key)
            if redacted != key:
                name = next(each for each in _numbered(redacted) if each not in taken)
                taken.add(name)
            yield name, item


def _any_of(secrets: Iterable[str]) -> re.Pattern[str]:
    # The longest first: a secret may begin like another.
    return re.compile("|".join(map(re.escape, sorted(secrets, key=lambda secret: (-len(secret), secret)))))


def _as_numbers(text: str) -> Iterator[str]:
    """Give the ways in which JSON writes the number that a text is, if it is one."""
    if _NUMBER.fullmatch(text):
        yield text
        for read in (int, float):
            with suppress(ValueError):
                yield repr(read(text))


def _spelled(text: str) -> Iterator[str]:
    """Give the ways in which JSON, Python and URLs spell a text, also with the hex digits of escapes in capitals."""
    yield text
    utf8 = text.encode("utf-8", "surrogateescape")
    escaped = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1], ascii(text)[1:-1]}
    with suppress(UnicodeEncodeError):
        latin = text.encode("latin-1")
        escaped |= {quote(latin, ""), quote(latin), repr(latin)[2:-1]}
    escaped |= {quote(utf8, ""), quote(utf8), repr(utf8)[2:-1]}
    for spelling in escaped:
        yield spelling
        yield _ESCAPE.sub(lambda match: match[1] + match[2].upper(), spelling)
        yield _ESCAPE.sub(lambda match: match[1] + match[2].lower(), spelling)


def _misread(text: str) -> Iterator[str]:
    """Give what becomes of a text outside ASCII where its bytes are taken for those of another encoding, or lost."""
    utf8 = text.encode("utf-8", "surrogateescape")
    for wrong in ("latin-1", "cp1252"):
        with suppress(UnicodeDecodeError):
            yield from _spelled(utf8.decode(wrong))
    for left in (text.encode("ascii", "replace").decode(), utf8.decode("ascii", "replace")):
        # What is left of a text may be too little to tell it from others.
        if len(left.translate(_REPLACEMENTS)) >= SHORTEST:
            yield from _spelled(left)


def _numbered(text: str) -> Iterator[str]:
    yield text
    for number in itertools.count(2):
        yield text.replace(REDACTED, f"{REDACTED[:-1]} {number}]", 1)


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
