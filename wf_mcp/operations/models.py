"""What the operations answer. These records are the output schemas of the MCP tools, so each root is a plain object.

Filling them from stored records is the business of the operation (or of `summaries`) that answers them.
"""

from typing import Any, Literal

from pydantic import ConfigDict

from wf_artifacts.catalog.models import Durability
from wf_core.jsonvalue import JsonSchema
from wf_core.state import RunStatus, Speaker, WordKind
from wf_mcp.operations.answers import Answer, Diagnostic, JsonObject
from wf_mcp.sources.protocol import SourceKind

SummaryStatus = Literal["running", "interrupted", "completed", "failed", "cancelled", "unrunnable"]
ResumeReadiness = Literal["ready", "blocked", "not_applicable"]

# Runs


class RunErrorView(Answer):
    """Why a run failed, and what is known of the effects of the call that failed."""

    code: str
    message: str
    step_id: str | None
    path: list[str]
    attempt: int | None
    side_effects: Literal["none", "unknown"]
    details: JsonObject


class InterruptView(Answer):
    """An open question of a run."""

    id: str
    kind: str
    step_id: str
    path: list[str]
    payload: Any
    outcomes: list[str]
    request_schema: JsonSchema
    resume_schema: JsonSchema
    outcome_schemas: dict[str, JsonSchema] = {}
    """The resume schema of an outcome that has one of its own."""
    typed: bool
    answered_by: Literal["anyone", "person"] = "anyone"


class PendingCall(Answer):
    """A call that waits for the outside: for its result, or for a person's word of what became of it (`in_doubt`)."""

    token: str
    state: Literal["deferred", "in_doubt"]
    step_id: str | None = None
    """None in a session, where `name` is what the model calls the tool."""
    path: list[str] = []
    session_id: str | None = None
    call_id: str | None = None
    name: str | None = None
    capability: str
    arguments: Any
    awaits: Literal["deferred", "isolated", "approval", "in_doubt", "callee"] | None = None
    """Who answers: an outside worker, a runner, a person (who allows it, or knows what became of it), or a callee."""
    disposition: JsonObject | None = None
    reason: str | None
    since: str
    expires_at: str | None = None


class RunSummary(Answer):
    """Where a run stands and what can be done next."""

    run_id: str | None
    """None when no run was created (`unrunnable`)."""
    status: SummaryStatus
    resume_readiness: ResumeReadiness
    deployment_id: str
    artifact_id: str
    artifact_version: int
    outcome: str | None = None
    output: Any = None
    error: RunErrorView | None = None
    interrupt: InterruptView | None = None
    """The first open question."""
    interrupts: list[InterruptView] = []
    """Every open question, the first included, in the order in which they opened."""
    pending_calls: list[PendingCall] = []
    diagnostics: list[Diagnostic] = []
    trace_count: int = 0
    steps_executed: int = 0
    latest_checkpoint_id: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    next_actions: list[str] = []


class OpenQuestion(Answer):
    """The name of an open question; `inspect_run` shows it whole."""

    id: str
    kind: str
    step_id: str


class OpenCall(Answer):
    """The name of a call that waits for the outside; `inspect_run` shows it whole."""

    token: str
    state: Literal["deferred", "in_doubt"]
    step_id: str
    capability: str


class RunRow(Answer):
    """One run of a list."""

    run_id: str
    status: RunStatus
    resume_readiness: ResumeReadiness
    deployment_id: str
    artifact_id: str
    artifact_version: int
    outcome: str | None
    error_code: str | None
    interrupts: list[OpenQuestion]
    pending_calls: list[OpenCall] = []
    trace_count: int
    steps_executed: int
    created_at: str
    updated_at: str


class RunList(Answer):
    """Runs, newest first."""

    runs: list[RunRow]
    next_cursor: str | None
    diagnostics: list[Diagnostic] = []
    """Stored runs that cannot be read."""


class SettledCall(Answer):
    """What was said of a call that waited, and by whom: `time` lets it expire."""

    by: Speaker
    kind: WordKind
    at: str


class TraceEntry(Answer):
    """What one step did. Longer values than 4 KiB are shortened: `{"$truncated": true, "bytes": n, "preview": "…"}`."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    index: int
    step_id: str
    path: list[str]
    step_type: str
    outcome: str | None = None
    next_step_id: str | None = None
    input: Any = None
    output: Any = None
    state_changes: Any = None
    attempt: int | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    error: Any = None
    settled: SettledCall | None = None


class TracePage(Answer):
    """A slice of a run's trace."""

    run_id: str
    status: RunStatus
    trace_count: int
    start: int
    """Counted from 0, also when a negative start was asked for."""
    limit: int
    truncated: bool
    """Whether more entries follow."""
    next_start: int | None
    """Where they do."""
    entries: list[TraceEntry]


class RecoveredRun(Answer):
    """A run whose process was gone."""

    run_id: str
    status: RunStatus
    """How it stands by now."""
    reason: str | None
    """Why it was left as it is. None where it was gone on with."""


class RecoveredRuns(Answer):
    """Every run that was found without a process."""

    runs: list[RecoveredRun]


class PendingItem(Answer):
    """Something that waits for the outside: a question (`interrupt`) or a call (`call`), of a run or a session."""

    run_id: str | None = None
    deployment_id: str | None = None
    session_id: str | None = None
    agent: str | None = None
    type: Literal["interrupt", "call"]
    since: str | None
    interrupt: InterruptView | None = None
    call: PendingCall | None = None
    next_action: str


class PendingList(Answer):
    """Everything that waits for the outside: of runs, the newest first, then of sessions, the newest first."""

    pending: list[PendingItem]
    next_cursor: str | None


# Artifacts and deployments


class ValidationResult(Answer):
    """Every issue of a plan. Warnings do not make it invalid."""

    valid: bool
    issues: list[Diagnostic]


class SavedArtifact(Answer):
    """The version that holds the saved plan."""

    artifact_id: str
    version: int
    digest: str
    required_capabilities: list[str]
    issues: list[Diagnostic] = []  # what validation warns of
    next_actions: list[str] = []


class ArtifactRow(Answer):
    """The newest version of an artifact, and the numbers of all that exist."""

    artifact_id: str
    version: int
    versions: list[int]
    description: str | None
    required_capabilities: list[str]
    created_at: str


class ArtifactList(Answer):
    """Artifacts by id."""

    artifacts: list[ArtifactRow]
    next_cursor: str | None
    diagnostics: list[Diagnostic] = []
    """Stored artifacts that cannot be read."""


class ArtifactView(Answer):
    """One version of an artifact with its plan."""

    artifact_id: str
    version: int
    digest: str
    description: str | None
    required_capabilities: list[str]
    created_at: str
    plan: JsonObject


class DeletedArtifact(Answer):
    """What was deleted."""

    artifact_id: str
    version: int | None
    """None when every version was deleted."""


class DeploymentView(Answer):
    """A deployment, and whether it can be run now."""

    deployment_id: str
    artifact_id: str
    artifact_version: int
    bindings: dict[str, str]
    durability: Durability
    call_policy: JsonObject | None = None
    """How its calls are carried out. None: as they come."""
    created_at: str
    updated_at: str
    runnable: bool
    diagnostics: list[Diagnostic]
    input_schema: JsonSchema
    """What the plan asks of `workflow_input`."""
    next_actions: list[str] = []


class DeploymentRow(Answer):
    """One deployment of a list."""

    deployment_id: str
    artifact_id: str
    artifact_version: int
    bindings: dict[str, str]
    created_at: str
    updated_at: str


class DeploymentList(Answer):
    """Deployments by id."""

    deployments: list[DeploymentRow]
    next_cursor: str | None
    diagnostics: list[Diagnostic] = []
    """Stored deployments that cannot be read."""


class DeletedDeployment(Answer):
    """What was deleted."""

    deployment_id: str


# Sources and capabilities


class HintsView(Answer):
    """What is known of a capability's effects."""

    read_only: bool
    idempotent: bool
    destructive: bool


class CapabilityRow(Answer):
    """One capability of a list."""

    name: str
    """`source.capability`."""
    source: str
    title: str | None
    description: str | None
    outcomes: list[str]
    hints: HintsView


class CapabilityList(Answer):
    """Capabilities by name."""

    capabilities: list[CapabilityRow]
    next_cursor: str | None
    diagnostics: list[Diagnostic] = []
    """Sources that could not be asked."""


class CapabilityView(CapabilityRow):
    """A capability with its whole contract."""

    input_schema: JsonSchema
    output_schema: JsonSchema
    digest: str


class CallAnswer(Answer):
    """The result of one call."""

    outcome: str
    output: Any


class SourceRow(Answer):
    """One source of a list."""

    name: str
    kind: SourceKind
    enabled: bool
    status: Literal["ready", "idle", "unavailable", "disabled"]
    """As far as is known without trying it; an idle one is tried by the next use."""
    diagnostics: list[Diagnostic] = []


class SourceList(Answer):
    """Every configured source."""

    sources: list[SourceRow]


class SourceCheck(SourceRow):
    """A source that was asked for its capabilities."""

    available: bool
    capabilities: list[str]
