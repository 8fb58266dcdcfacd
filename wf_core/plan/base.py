"""What every record of the plan language shares: frozen, and closed to unknown keys."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

STEP_ID_PATTERN = r"^[A-Za-z_][A-Za-z0-9_-]*$"
StepId = Annotated[str, StringConstraints(pattern=STEP_ID_PATTERN)]


class PlanRecord(BaseModel):
    """A frozen record that refuses unknown keys and converts nothing (`"3"` is not `3`)."""

    # Built when first used: a server answers its first request long before it reads a plan.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False, defer_build=True)
