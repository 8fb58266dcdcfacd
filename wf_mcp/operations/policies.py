"""The call policy of a deployment, as whoever deploys writes it: read, judged, and put into the form that is stored."""

from typing import Any, cast

from wf_core.calls.policy_data import read_policy
from wf_core.errors import InvalidPolicy
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.runners import Runner, isolation_faults


def read_call_policy(document: JsonValue) -> dict[str, Any]:
    """Read a policy, and give it as it is stored: in the spelling that it is written in.

    Raises:
        InvalidPolicy: with every issue.
    """
    policy = read_policy(document, "call_policy")
    # Where isolated calls are to run has to be said in full: a deployment has no runner of its own.
    faults = isolation_faults(policy, Runner(), where="call_policy")
    if faults:
        raise InvalidPolicy([{"where": place, "message": message} for place, message in faults])
    return cast("dict[str, Any]", policy.to_json())
