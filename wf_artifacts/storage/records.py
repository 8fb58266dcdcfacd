"""What every stored record shares: frozen, closed to unknown keys, and converting nothing.

How a record becomes bytes is `documents`.
"""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from wf_core.times import iso, parse_iso


class Record(BaseModel):
    """A frozen record. `"3"` is not `3`, and a key that no field has is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def _read_time(value: Any) -> Any:
    return parse_iso(value) if isinstance(value, str) else value


Time = Annotated[datetime, BeforeValidator(_read_time), PlainSerializer(iso)]
"""An aware time, written as `wf_core.times.iso` writes it."""

Element = TypeVar("Element")

Array = Annotated[tuple[Element, ...], Field(strict=False), PlainSerializer(list)]
"""A tuple, written as a JSON array."""
