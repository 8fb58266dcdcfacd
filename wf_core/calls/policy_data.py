"""A call policy as data: read from an agent file or a deployment, matched against calls, and written again.

Tags and keys are read in camelCase and in snake_case and written in camelCase. Times are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from wf_core.calls.policy import AppliedPolicy, CallPolicy, Disposition, PolicyContext, RunSync, ToolCall
from wf_core.jsonvalue import JsonValue

AT_ONCE = RunSync()


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """What is to be done with the tools of a name."""

    tool: str
    """A tool's name, a capability's `source.name`, or a glob of either, case and all."""
    disposition: Disposition

    def matches(self, call: ToolCall) -> bool:
        """Tell whether the rule is for this call."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """A policy as data. The first rule that matches decides, else `default`."""

    default: Disposition = AT_ONCE
    rules: tuple[PolicyRule, ...] = ()

    def policy(self, context: PolicyContext, call: ToolCall) -> Disposition:
        """Decide, as a `CallPolicy` does."""
        return self.apply(context, call).disposition

    def apply(self, context: PolicyContext, call: ToolCall) -> AppliedPolicy:
        """Decide, and name the rule: its pattern, or `default`."""
        raise NotImplementedError

    def to_json(self) -> dict[str, JsonValue]:
        """Write the policy: what `read_policy` reads."""
        raise NotImplementedError


def read_policy(document: object, where: str = "toolCallPolicyConfig") -> PolicyConfig:
    """Read a policy. `{}` and None run everything at once.

    Raises:
        InvalidPolicy: with every issue, and its place below `where`.
    """
    raise NotImplementedError


def read_disposition(value: object, where: str = "disposition") -> Disposition:
    """Read one disposition.

    Raises:
        InvalidPolicy: with every issue, and its place.
    """
    raise NotImplementedError


def disposition_to_json(disposition: Disposition) -> dict[str, JsonValue]:
    """Write a disposition, camelCase: `{"tag": "defer", "reason": …, "approval"?: true, "expiresSeconds"?: n}`."""
    raise NotImplementedError


def apply_policy(policy: CallPolicy | PolicyConfig, context: PolicyContext, call: ToolCall) -> AppliedPolicy:
    """Ask any policy; one in Python goes by its function's name as the rule."""
    raise NotImplementedError


def spec_to_json(disposition: Disposition) -> Mapping[str, JsonValue]:
    """Write the spec of a `RunIsolated`, as in an isolation envelope."""
    raise NotImplementedError
