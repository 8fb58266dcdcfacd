"""How a value is put together from paths and literals. Evaluation is `wf_core.runtime.expressions`."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from wf_core.plan.base import PlanRecord


class PathExpression(PlanRecord):
    """`{"path": "state.name"}`: the value there, or `default` where nothing is. `has_default` tells null from absent."""

    path: str
    default: Any = None

    @property
    def has_default(self) -> bool:
        return "default" in self.model_fields_set


class ValueExpression(PlanRecord):
    """`{"value": …}`: a literal, whatever it looks like."""

    value: Any


class ObjectExpression(PlanRecord):
    """`{"object": {key: expression}}`."""

    object: "dict[str, Expression]"


class ArrayExpression(PlanRecord):
    """`{"array": [expression, …]}`."""

    array: "list[Expression]"


class TemplateExpression(PlanRecord):
    """`{"template": "text {{state.name}} text"}`."""

    template: str


_KINDS = ("path", "value", "object", "array", "template")


def _kind(value: Any) -> str | None:
    """Name the one key that says which expression this is."""
    if isinstance(value, dict):
        present = [kind for kind in _KINDS if kind in value]
        return present[0] if present else None
    for kind, record in zip(_KINDS, _RECORDS, strict=True):
        if isinstance(value, record):
            return kind
    return None


Expression = Annotated[
    Annotated[PathExpression, Tag("path")]
    | Annotated[ValueExpression, Tag("value")]
    | Annotated[ObjectExpression, Tag("object")]
    | Annotated[ArrayExpression, Tag("array")]
    | Annotated[TemplateExpression, Tag("template")],
    Discriminator(
        _kind,
        custom_error_type="no_expression",
        custom_error_message='an expression is one of {"path": …}, {"value": …}, {"object": …}, {"array": …}, {"template": …}',
    ),
]

_RECORDS = (PathExpression, ValueExpression, ObjectExpression, ArrayExpression, TemplateExpression)

ObjectExpression.model_rebuild()
ArrayExpression.model_rebuild()


class OptionalSource(PlanRecord):
    """`{"source": "a.b", "optional": true}`: where `optional`, nothing is written when the source is missing."""

    source: str
    optional: bool = False


OutputMap = dict[str, Annotated[str | OptionalSource, Field(union_mode="left_to_right")]]
"""State path -> local source path."""
