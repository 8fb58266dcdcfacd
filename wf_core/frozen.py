"""Records that nobody changes, of which each step of a run makes some.

What `dataclass(frozen=True)` refuses at run time costs more than the rest of making one: a tenth of what a step costs.
So these are frozen for the type checker alone.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """Make a dataclass with slots of a class, compared and hashed by its fields. Nobody changes them."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
