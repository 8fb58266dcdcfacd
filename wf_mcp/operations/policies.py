"""The call policy of a deployment, as whoever deploys writes it: read, judged, and put into the form that is stored."""

from typing import Any, cast

from wf_core.calls.policy import RunIsolated, bare
from wf_core.calls.policy_data import PolicyConfig, read_policy
from wf_core.errors import InvalidPolicy
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.runners import InvalidRunner, Runner, runner_for


def read_call_policy(document: JsonValue) -> dict[str, Any]:
    """Read a policy, and give it as it is stored: in the spelling that it is written in.

    Raises:
        InvalidPolicy: with every issue.
    """
    policy = read_policy(document, "call_policy")
    _check_runners(policy)
    return cast("dict[str, Any]", policy.to_json())


def _check_runners(policy: PolicyConfig) -> None:
    """See that where isolated calls are to run can be understood."""
    places = {"call_policy.default": policy.default}
    places |= {f"call_policy.rules[{index}].disposition": rule.disposition for index, rule in enumerate(policy.rules)}
    issues: list[dict[str, str]] = []
    for where, disposition in places.items():
        innermost = bare(disposition)
        if isinstance(innermost, RunIsolated):
            try:
                runner_for(Runner(), innermost.spec)
            except InvalidRunner as error:
                issues.append({"where": where, "message": error.message})
    if issues:
        raise InvalidPolicy(issues)
