"""Where that can be read which an answer of a tool had no room for."""

from collections.abc import Mapping
from typing import Any, Final

from wf_mcp.server.shortening import cut

_WHOLE: Final[Mapping[str, str]] = {
    "RunSummary": "the resource wf://runs/{run_id}, or `wf runs show {run_id} --json`, gives everything",
    "RunList": "`wf runs list --json` gives everything",
    "TracePage": "`wf runs trace {run_id} --start {start} --limit 1 --json` gives the first entry as it is stored",
    "PendingList": "`wf pending --json` gives everything",
    "SessionSummary": "`wf session show {session_id} --json` gives everything",
    "SessionDetail": "`wf session show {session_id} --json` gives everything",
    "SessionList": "`wf session list --json` gives everything",
    "ValidationResult": "mend these first and validate again, or `wf plan validate FILE --json` gives every issue",
    "SavedArtifact": "the artifact is saved; validate_workflow says again what was found",
    "ArtifactList": "`wf artifacts list --json` gives everything",
    "ArtifactView": "the resource wf://artifacts/{artifact_id}/{version}, or "
    "`wf artifacts show {artifact_id} --version {version} --json`, gives the whole plan: what stands here is not to be "
    "saved",
    "DeploymentView": "the resource wf://deployments/{deployment_id}, or `wf deployments show {deployment_id} --json`, "
    "gives everything",
    "DeploymentList": "`wf deployments list --json` gives everything",
    "CapabilityList": "`wf capabilities list --json` gives everything, inspect_capability(name=…) shows one",
    "CapabilityView": "`wf capabilities show {name} --json` gives the whole contract",
    "CallAnswer": "the rest of this result is kept nowhere. Where the capability is a step of a workflow, what the "
    "plan takes into its output stays in the run, and the resource wf://runs/… gives it whole",
    "Refusal": "correct what is named, and call again",
}
"""Name of the model of an answer -> where its rest is. The members of the answer may stand in it."""

_UNSTARTED: Final[Mapping[str, str]] = {
    "RunSummary": "`wf deployments show {deployment_id} --json` gives everything",
    "SessionSummary": "`wf doctor` gives everything",
}
"""The same where nothing was created that could be looked at."""

_USUAL: Final = "the command of `wf` that does the same gives everything with `--json`"

_LONGEST_ID: Final = 300

_LISTED: Final = {"run_id": ("interrupts", "pending_calls"), "session_id": ("pending_calls",)}


def where(model: str, body: Mapping[str, Any], left_out: set[str]) -> str:
    """Say where the rest of an answer is, of which some members of `left_out` lack items."""
    body = {name: cut(item, _LONGEST_ID) if isinstance(item, str) else item for name, item in body.items()}
    started = body.get("run_id", body.get("session_id", "")) is not None
    whole = (_WHOLE if started else {**_WHOLE, **_UNSTARTED}).get(model, _USUAL).format_map(body)
    for name, lists in _LISTED.items():
        if body.get(name) is not None and left_out.intersection(lists):
            whole = f'list_pending({name}="{body[name]}") lists all that waits, a page at a time; {whole}'
    return f"{whole[0].upper()}{whole[1:]}." if whole.startswith("the ") else f"{whole}."
