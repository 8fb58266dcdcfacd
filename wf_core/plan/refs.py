"""Names by which a plan refers to what is not in it: capabilities and child workflows."""

from typing import Any

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from wf_core.plan.base import PlanRecord

MAX_VERSION = 2**31 - 1
"""The highest number that a version of an artifact can have."""


class CapabilityRef(PlanRecord):
    """A capability by its logical source, which a deployment binds.

    Also written as one text, `source.capability`, split at the last dot.
    """

    source: str = Field(min_length=1)
    capability: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            source, dot, capability = value.rpartition(".")
            if not (dot and source and capability):
                raise ValueError(f"{value!r} names no capability; write source.capability")
            return {"source": source, "capability": capability}
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text = {"type": "string", "pattern": r"^.+\.[^.]+$", "description": "source.capability"}
        return {"anyOf": [text, handler.resolve_ref_schema(handler(core))]}

    def __str__(self) -> str:
        return f"{self.source}.{self.capability}"


class WorkflowRef(PlanRecord):
    """A child workflow: a saved artifact version, or a plan written in place. Exactly one of the two forms."""

    artifact_id: str | None = None
    version: int | None = Field(default=None, ge=1, le=MAX_VERSION)
    plan: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> "WorkflowRef":
        if (self.plan is None) == (self.artifact_id is None) or (self.artifact_id is None) != (self.version is None):
            raise ValueError('write {"artifact_id": …, "version": …} or {"plan": …}')
        return self
