"""What the fields of an answer hold, read off its model: what may be shortened, and what has to stand there then."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel

Kind: TypeAlias = Literal["value", "text", "list", "map", "record", "exact"]
"""`value`: any JSON, so that a marker may take its place. `map`: an object with keys of its own, all members alike.
`exact`: a number, a boolean, or one of a few words."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What one field holds, beside null."""

    kind: Kind
    inner: "Shape | None" = None
    """Of the items of a list, or the members of a map."""
    model: type[BaseModel] | None = None
    """Of a record."""


VALUE = Shape("value")
TEXT = Shape("text")
EXACT = Shape("exact")

_FREE = (Any, object, dict[str, Any])


@cache
def fields_of(model: type[BaseModel]) -> Mapping[str, Shape]:
    """Give the shape of each field of a model. What a record holds beside them is any value."""
    return {name: _shape(field.annotation) for name, field in model.model_fields.items()}


def rows_of(model: type[BaseModel]) -> str | None:
    """Name the list of a page, which the next page goes on with. None: the answer is no page."""
    if not {"next_cursor", "next_start"} & model.model_fields.keys():
        return None
    return next(
        name for name, shape in fields_of(model).items() if shape.inner is not None and shape.inner.kind == "record"
    )


def _shape(annotation: Any) -> Shape:
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _FREE:
        return VALUE
    if annotation is str:
        return TEXT
    if origin is Annotated:
        return _shape(inner[0])
    if origin is list:
        return Shape("list", _shape(inner[0]))
    if origin is dict:
        return Shape("map", _shape(inner[1]))
    if origin in (Union, UnionType):
        return _one_of([_shape(branch) for branch in inner if branch is not type(None)])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Shape("record", model=annotation)
    return EXACT


def _one_of(shapes: list[Shape]) -> Shape:
    """Give the shape of what may be several: a schema is an object or a boolean."""
    longer = [shape for shape in shapes if shape != EXACT]
    if len(longer) > 1:
        raise TypeError(f"an answer cannot hold one of {longer}")
    return longer[0] if longer else EXACT
