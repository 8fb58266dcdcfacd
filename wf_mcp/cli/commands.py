"""Which command does what a tool does: errors name tools, and a person has commands.

Only what this program says itself is rewritten, and only for people: `--json` is as the tool gives it.
"""

import re
from collections.abc import Iterator, Mapping

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "run_deployment": ("runs start", "deployment_id", "--input=workflow_input", "--key=idempotency_key"),
    "resume_run": (
        "runs resume", "run_id", "--payload=resume_payload", "--outcome=resume_outcome", "--interrupt=interrupt_id",
    ),
    "inspect_run": ("runs show", "run_id"),
    "validate_run": ("runs show --check", "run_id"),
    "read_run_trace": ("runs trace", "run_id", "--start=start", "--limit=limit"),
    "list_runs": ("runs list", "--status=status", "--deployment=deployment_id", "--readiness=resume_readiness"),
    "cancel_run": ("runs cancel", "run_id", "--reason=reason"),
    "list_pending": ("pending", "--run=run_id", "--session=session_id"),
    "complete_call": ("calls complete", "token", "result", "--outcome=outcome"),
    "fail_call": ("calls fail", "token", "--error=error"),
    "list_capabilities": ("capabilities list", "query", "--source=source"),
    "inspect_capability": ("capabilities show", "name"),
    "call_capability": ("capabilities call", "name", "input"),
    "list_sources": ("sources list",),
    "validate_workflow": ("plan validate", "plan"),
    "save_artifact": ("artifacts save", "artifact_id", "plan", "--description=description"),
    "list_artifacts": ("artifacts list",),
    "inspect_artifact": ("artifacts show", "artifact_id", "--version=version"),
    "delete_artifact": ("artifacts delete", "artifact_id", "--version=version"),
    "create_deployment": ("deployments create", "deployment_id", "artifact_id", "--version=version"),
    "list_deployments": ("deployments list",),
    "inspect_deployment": ("deployments show", "deployment_id"),
    "delete_deployment": ("deployments delete", "deployment_id"),
    "start_session": ("session start", "--agent=agent", "--prompt=prompt"),
    "step_session": ("session step", "session_id"),
    "pause_session": ("session pause", "session_id"),
    "resume_session": ("session resume", "session_id", "--prompt=prompt"),
    "run_isolated": ("session run-isolated", "session_id"),
    "inspect_session": ("session show", "session_id", "--turns=turns"),
    "list_sessions": ("session list", "--status=status"),
}  # fmt: skip
"""The command of each tool: its words, its arguments as the tool calls them, and its options as `--option=argument`."""

_VALUE = r"'[^']*'|\"[^\"]*\"|<[^>]*>|[^\s,()'\"<]+"
_ARGUMENT = rf"\w+=(?:{_VALUE})"
_TOOL = re.compile(rf"(?<![\w./-])({'|'.join(COMMANDS)})(?![\w-]|\.\w)(?:\(((?:{_ARGUMENT}(?:, )?)*)\))?")
_TWICE = re.compile(r"(wf [a-z -]+), \1\b")


def as_commands(text: str) -> str:
    """Name the commands in the place of the tools that `text` names, with the arguments that it gives them."""
    named = _TOOL.sub(lambda found: _command(found[1], found[2] or ""), text)
    return _TWICE.sub(r"\1", named).replace("replace=true", "--replace")


def _command(tool: str, written: str) -> str:
    words, *parameters = COMMANDS[tool]
    given = dict(one.split("=", 1) for one in re.findall(_ARGUMENT, written))
    return " ".join(("wf", words, *(_arguments(parameters, given) if given else ())))


def _arguments(parameters: list[str], given: Mapping[str, str]) -> Iterator[str]:
    """Give the arguments in order, one that is not given by its name, and the options that are given."""
    for parameter in parameters:
        option, _, name = parameter.rpartition("=")
        value = given.get(name, "…").strip("'\"")
        if option and name in given:
            yield f"{option} {value}"
        elif not option:
            yield value if value != "…" else name.upper()
