"""How a value is put together from paths and literals. Evaluation is `wf_core.runtime.expressions`."""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from wf_core.plan.base import PlanRecord


class PathExpression(PlanRecord):
    """`{"path": "state.name"}`: the value there, or `default` where nothing is."""

    path: str
    default: Any = None

    @property
    def has_default(self) -> bool:
        """Tell a default of null from none."""
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


EXPRESSION_KINDS = ("path", "value", "object", "array", "template")
"""The keys that say which expression an object is; exactly one of them stands in it."""


def _kind(value: Any) -> str | None:
    """Name the one key that says which expression this is."""
    for kind, record in zip(EXPRESSION_KINDS, _RECORDS, strict=True):
        if isinstance(value, record) or (isinstance(value, dict) and kind in value):
            return f"<{kind}>"
    return None


Expression = Annotated[
    Annotated[PathExpression, Tag("<path>")]
    | Annotated[ValueExpression, Tag("<value>")]
    | Annotated[ObjectExpression, Tag("<object>")]
    | Annotated[ArrayExpression, Tag("<array>")]
    | Annotated[TemplateExpression, Tag("<template>")],
    Discriminator(
        _kind,
        custom_error_type="no_expression",
        custom_error_message="an expression is an object with one of the keys " + ", ".join(EXPRESSION_KINDS),
    ),
]
"""The tags stand in angle brackets, so that the place of an error can be told from the keys of the plan."""

_RECORDS = (PathExpression, ValueExpression, ObjectExpression, ArrayExpression, TemplateExpression)


class OptionalSource(PlanRecord):
    """`{"source": "a.b", "optional": true}`: where `optional`, nothing is written when the source is missing."""

    source: str
    optional: bool = False


def _source_form(value: Any) -> str:
    return "<source>" if isinstance(value, dict | OptionalSource) else "<text>"


OutputMap = dict[
    str,
    Annotated[
        Annotated[str, Tag("<text>")] | Annotated[OptionalSource, Tag("<source>")],
        Discriminator(_source_form),
    ],
]
"""State path -> local source path."""
