"""The questions that a condition step may ask. Answering them is `wf_core.runtime.conditions`."""

from typing import Annotated, Literal

from pydantic import Field

from wf_core.plan.base import PlanRecord
from wf_core.plan.bindings import Expression


class Exists(PlanRecord):
    """True where the path leads somewhere, be it to null."""

    op: Literal["exists"]
    path: str


class Not(PlanRecord):
    op: Literal["not"]
    arg: "Condition"


class Logic(PlanRecord):
    """From left to right, and no further than needed."""

    op: Literal["and", "or"]
    args: "list[Condition]"


class Compare(PlanRecord):
    """`matches` takes a JSON Schema pattern on the right, `in` an array, a text or an object."""

    op: Literal["eq", "ne", "gt", "ge", "lt", "le", "in", "matches"]
    left: Expression
    right: Expression


Condition = Annotated[Exists | Not | Logic | Compare, Field(discriminator="op")]

Not.model_rebuild()
Logic.model_rebuild()
