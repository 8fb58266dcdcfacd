"""What the fields of an answer hold."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel

from wf_core.jsonvalue import JsonSchema
from wf_mcp.operations.models import PendingList, RunSummary, TracePage
from wf_mcp.server.shapes import EXACT, TEXT, VALUE, Shape, fields_of, rows_of


class Inner(BaseModel):
    name: str


class Answer(BaseModel):
    anything: Any
    schema_: JsonSchema
    words: Annotated[str, AfterValidator(str)] | None
    status: Literal["a", "b"] | None
    number: int
    inners: list[Inner]
    names: list[str]
    by_name: dict[str, str]
    inner: Inner | None = None


def test_each_field_has_the_shape_of_its_type() -> None:
    assert fields_of(Answer) == {
        "anything": VALUE,
        "schema_": VALUE,
        "words": TEXT,
        "status": EXACT,
        "number": EXACT,
        "inners": Shape("list", Shape("record", model=Inner)),
        "names": Shape("list", TEXT),
        "by_name": Shape("map", TEXT),
        "inner": Shape("record", model=Inner),
    }


def test_a_field_that_may_be_of_several_shapes_is_a_mistake() -> None:
    class Either(BaseModel):
        it: str | list[str]

    with pytest.raises(TypeError):
        fields_of(Either)


def test_a_page_has_rows() -> None:
    assert (rows_of(PendingList), rows_of(TracePage), rows_of(RunSummary)) == ("pending", "entries", None)
