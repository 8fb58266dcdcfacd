"""Patterns with JSON Schema's meaning, matched in time linear in the text."""

from functools import lru_cache

import jsonschema_rs as js

from wf_core.errors import InvalidSchema
from wf_core.jsonvalue import quote
from wf_core.schemas.engine import build


class Pattern:
    """A JSON Schema pattern: it may match anywhere in a text, and takes time linear in its length."""

    __slots__ = ("matches",)

    def __init__(self, validator: js.Validator) -> None:
        self.matches = validator.is_valid
        """`matches(text) -> bool`."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern with JSON Schema's meaning.

    Raises:
        InvalidSchema: the pattern is malformed or too large, or needs look-around or back-references, which cannot be
            matched in linear time.
    """
    reason = pattern_fault(pattern)
    if reason is not None:
        raise InvalidSchema(reason)
    return Pattern(build({"pattern": pattern}))


def pattern_fault(pattern: str) -> str | None:
    """Say why a pattern cannot be used, or None."""
    try:
        build({"pattern": pattern})
    except ValueError:
        pass
    else:
        return None
    try:
        js.validator_for({"pattern": pattern}, offline=True)
    except ValueError:
        return f"{quote(pattern)} is no regular expression, or too large a one."
    return f"{quote(pattern)} needs look-around or back-references, which cannot be matched in linear time."
