"""The questions that a condition step may ask. Answering them is `wf_core.runtime.conditions`."""

from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Discriminator, Tag

from wf_core.plan.base import PlanRecord
from wf_core.plan.bindings import Expression

CompareOperator = Literal["eq", "ne", "gt", "ge", "lt", "le", "in", "matches"]


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

    op: CompareOperator
    left: Expression
    right: Expression


OPERATORS: tuple[str, ...] = ("exists", "not", "and", "or", *get_args(CompareOperator))


def _kind(value: Any) -> str | None:
    """Name the record that an operator belongs to."""
    op = cast("dict[str, Any]", value).get("op") if isinstance(value, dict) else getattr(value, "op", None)
    if op in ("exists", "not"):
        return f"<{op}>"
    if op in ("and", "or"):
        return "<logic>"
    return "<compare>" if isinstance(op, str) and op in OPERATORS else None


Condition = Annotated[
    Annotated[Exists, Tag("<exists>")]
    | Annotated[Not, Tag("<not>")]
    | Annotated[Logic, Tag("<logic>")]
    | Annotated[Compare, Tag("<compare>")],
    Discriminator(
        _kind,
        custom_error_type="no_condition",
        custom_error_message="a condition is an object whose `op` is one of " + ", ".join(OPERATORS),
    ),
]
