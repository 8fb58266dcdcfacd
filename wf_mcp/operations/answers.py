"""What every answer of an operation is made of."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from wf_mcp.errors import abridge, cut

JsonObject = dict[str, Any]
Words = Annotated[str, AfterValidator(abridge)]
"""A text that may repeat what somebody passed."""


class Answer(BaseModel):
    """A frozen record. Times are text, `2026-11-30T10:00:00.000Z`."""

    # Built when first used, which is after the server has answered its first request.
    model_config = ConfigDict(frozen=True, defer_build=True)


class Diagnostic(Answer):
    """Something to know about a plan, a deployment, a run, a session or a source."""

    severity: Literal["error", "warning"]
    code: str
    message: Words
    hint: Words | None = None
    path: Annotated[str, AfterValidator(cut)] | None = None
    """JSON pointer into the plan, where the matter stands in one."""
