"""A call policy as data: read from an agent file or a deployment, matched against calls, and written again.

Tags and keys are read in camelCase and in snake_case and written in camelCase. Times are seconds.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar, cast

from wf_core.calls.policy import (
    AppliedPolicy,
    CallPolicy,
    Decorate,
    Decorator,
    Defer,
    Disposition,
    IsolationSpec,
    PolicyContext,
    RunAsync,
    RunIsolated,
    RunSync,
    ToolCall,
    WithCacheKey,
    WithLabel,
    WithRetries,
    WithTimeout,
)
from wf_core.errors import InvalidPolicy, NotJson
from wf_core.jsonvalue import JsonValue, check, quote

T = TypeVar("T")

AT_ONCE = RunSync()

DEEPEST = 8
"""Decorations inside each other."""

MOST_RETRIES = 100

_SANDBOXES = ("process", "container", "http")


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """What is to be done with the tools of a name."""

    tool: str
    """A tool's name, a capability's `source.name`, or a glob of either, case and all."""
    disposition: Disposition

    def matches(self, call: ToolCall, *, names: Sequence[str] = ()) -> bool:
        """Tell whether the rule is for this call; `names` are others that its tool goes by."""
        names = [name for name in (call.name, call.capability, *names) if name]
        return self.tool in names or any(fnmatchcase(name, self.tool) for name in names)


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """A policy as data. The first rule that matches decides, else `default`."""

    default: Disposition = AT_ONCE
    rules: tuple[PolicyRule, ...] = ()

    def policy(self, context: PolicyContext, call: ToolCall) -> Disposition:
        """Decide, as a `CallPolicy` does."""
        return self.apply(context, call).disposition

    def apply(self, context: PolicyContext, call: ToolCall, *, names: Sequence[str] = ()) -> AppliedPolicy:  # noqa: ARG002
        """Decide, and name the rule: its pattern, or `default`."""
        for rule in self.rules:
            if rule.matches(call, names=names):
                return AppliedPolicy(rule.disposition, rule.tool)
        return AppliedPolicy(self.default, "default")

    def to_json(self) -> dict[str, JsonValue]:
        """Write the policy: what `read_policy` reads."""
        return {
            "default": disposition_to_json(self.default),
            "rules": [{"tool": rule.tool, "disposition": disposition_to_json(rule.disposition)} for rule in self.rules],
        }


def apply_policy(policy: CallPolicy | PolicyConfig, context: PolicyContext, call: ToolCall) -> AppliedPolicy:
    """Ask any policy; one in Python goes by its function's name as the rule.

    Raises:
        InvalidPolicy: it decided what cannot be written down.
    """
    if isinstance(policy, PolicyConfig):
        return policy.apply(context, call)
    config = getattr(policy, "__self__", None)
    if isinstance(config, PolicyConfig):
        return config.apply(context, call)
    rule = str(getattr(policy, "__name__", type(policy).__name__))
    decided = policy(context, call)
    return AppliedPolicy(read_disposition(disposition_to_json(decided), rule), rule)


def read_policy(document: object, where: str = "toolCallPolicyConfig") -> PolicyConfig:
    """Read a policy. `{}` and None run everything at once.

    Raises:
        InvalidPolicy: with every issue, and its place below `where`.
    """
    if document is None:
        return PolicyConfig()
    reader = _Reader()
    members = reader.members(document, where, ("default", "rules"))
    default = AT_ONCE if members.get("default") is None else reader.disposition(members["default"], f"{where}.default")
    rules = reader.array(members.get("rules", []), f"{where}.rules", reader.rule)
    reader.finish()
    return PolicyConfig(default, tuple(rules))


def read_disposition(value: object, where: str = "disposition") -> Disposition:
    """Read one disposition.

    Raises:
        InvalidPolicy: with every issue, and its place.
    """
    reader = _Reader()
    disposition = reader.disposition(value, where)
    reader.finish()
    return disposition


def disposition_to_json(disposition: Disposition) -> dict[str, JsonValue]:
    """Write a disposition, camelCase: `{"tag": "defer", "reason": …, "approval"?: true, "expiresSeconds"?: n}`.

    Raises:
        InvalidPolicy: what a policy in Python decided is no disposition.
    """
    match disposition:
        case RunSync():
            return {"tag": "runSync"}
        case RunAsync():
            return {"tag": "runAsync"}
        case RunIsolated(spec):
            return {"tag": "runIsolated", "spec": spec_to_json(spec)}
        case Defer():
            written: dict[str, JsonValue] = {"tag": "defer", "reason": disposition.reason}
            if disposition.approval:
                written["approval"] = True
            if disposition.expires_seconds is not None:
                written["expiresSeconds"] = disposition.expires_seconds
            return written
        case Decorate(decorations, inner):
            return {
                "tag": "decorate",
                "decorators": [_decorator_to_json(decoration) for decoration in decorations],
                "inner": disposition_to_json(inner),
            }
        case _:  # pyright: ignore[reportUnnecessaryComparison] - a policy in Python may return anything
            raise InvalidPolicy([{"where": "disposition", "message": f"{type(disposition).__name__} is none."}])


def context_to_json(context: PolicyContext) -> dict[str, JsonValue]:
    """Write where a call stands, snake_case."""
    return {
        "session_id": context.session_id,
        "run_id": context.run_id,
        "turn_id": context.turn_id,
        "conversation_id": context.conversation_id,
        "call_stack": list(context.call_stack),
        "allowed_tools": list(context.allowed_tools),
        "parent": context.parent,
    }


def spec_to_json(spec: IsolationSpec) -> dict[str, JsonValue]:
    """Write where an isolated call runs, as in an isolation envelope: what is left out stays out."""
    written: dict[str, JsonValue] = {}
    if spec.sandbox is not None:
        written["sandbox"] = spec.sandbox
    if spec.image is not None:
        written["image"] = spec.image
    return {**written, **spec.options}


def _decorator_to_json(decoration: Decorator) -> JsonValue:
    match decoration:
        case WithTimeout(seconds):
            return {"tag": "withTimeout", "seconds": seconds}
        case WithRetries(times):
            return {"tag": "withRetries", "times": times}
        case WithCacheKey(key):
            return {"tag": "withCacheKey"} if key is None else {"tag": "withCacheKey", "key": key}
        case WithLabel(text):
            return {"tag": "withLabel", "text": text}


class _Reader:
    """Reads on after a mistake, so that everything is said at once; what it gives then is never used."""

    def __init__(self) -> None:
        self.issues: list[dict[str, str]] = []

    def finish(self) -> None:
        if self.issues:
            raise InvalidPolicy(self.issues)

    def rule(self, value: object, where: str) -> PolicyRule:
        members = self.members(value, where, ("tool", "disposition"))
        if not isinstance(value, Mapping):
            return PolicyRule("", AT_ONCE)
        tool = self.text(members.get("tool"), f"{where}.tool")
        if "disposition" not in members:
            self.refuse(f"{where}.disposition", "is missing")
            return PolicyRule(tool, AT_ONCE)
        return PolicyRule(tool, self.disposition(members["disposition"], f"{where}.disposition"))

    def disposition(self, value: object, where: str, depth: int = 0) -> Disposition:
        if depth > DEEPEST:
            self.refuse(where, f"decorations are at most {DEEPEST} deep")
            return AT_ONCE
        tag, members = self.tagged(value, where, _DISPOSITIONS)
        match tag:
            case "runAsync":
                return RunAsync()
            case "runIsolated":
                return RunIsolated(self.spec(members.get("spec"), f"{where}.spec"))
            case "defer":
                expires = members.get("expiresSeconds")
                return Defer(
                    self.text(members.get("reason", ""), f"{where}.reason", empty=True),
                    self.boolean(members.get("approval", False), f"{where}.approval"),
                    None if expires is None else self.seconds(expires, f"{where}.expiresSeconds"),
                )
            case "decorate":
                found = self.array(members.get("decorators", []), f"{where}.decorators", self.decorator)
                return Decorate(tuple(found), self.disposition(members.get("inner"), f"{where}.inner", depth + 1))
            case _:
                return AT_ONCE

    def decorator(self, value: object, where: str) -> Decorator:
        tag, members = self.tagged(value, where, _DECORATORS)
        match tag:
            case "withTimeout":
                return WithTimeout(self.seconds(members.get("seconds"), f"{where}.seconds"))
            case "withRetries":
                return WithRetries(self.times(members.get("times"), f"{where}.times"))
            case "withCacheKey":
                key = members.get("key")
                return WithCacheKey(None if key is None else self.text(key, f"{where}.key"))
            case _:
                return WithLabel(self.text(members.get("text"), f"{where}.text"))

    def spec(self, value: object, where: str) -> IsolationSpec:
        if value is None:
            return IsolationSpec()
        members = self.members(value, where, None)
        try:
            check(members, where)
        except NotJson as bad:
            self.refuse(bad.where, bad.reason)
            return IsolationSpec()
        sandbox, image = members.pop("sandbox", None), members.pop("image", None)
        if sandbox is not None and sandbox not in _SANDBOXES:
            self.refuse(f"{where}.sandbox", f"is none of {', '.join(_SANDBOXES)}")
        image = None if image is None else self.text(image, f"{where}.image")
        return IsolationSpec(sandbox, image, members)

    def tagged(self, value: object, where: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, dict[str, Any]]:
        if not isinstance(value, dict):
            self.refuse(where, 'is no object with a "tag"')
            return "", {}
        tag = cast("dict[str, Any]", value).get("tag")
        name = _camel(tag) if isinstance(tag, str) else ""
        if name not in known:
            shown = quote(tag) if isinstance(tag, str) else "missing"
            self.refuse(f"{where}.tag", f"is {shown}, none of {', '.join(known)}")
            return "", {}
        return name, self.members(cast("object", value), where, ("tag", *known[name]))

    def members(self, value: object, where: str, known: tuple[str, ...] | None) -> dict[str, Any]:
        """Take an object with its keys in camelCase, of which there are no others than `known`."""
        if not isinstance(value, Mapping):
            self.refuse(where, "is no object")
            return {}
        taken: dict[str, Any] = {}
        for key, item in cast("Mapping[object, Any]", value).items():
            name = _camel(key) if isinstance(key, str) else repr(key)
            if name in taken:
                self.refuse(f"{where}.{name}", "stands twice")
            elif known is not None and name not in known:
                self.refuse(f"{where}.{name}", f"is unknown; there are {', '.join(known)}")
            taken[name] = item
        return taken

    def array(self, value: object, where: str, read: Callable[[object, str], T]) -> list[T]:
        if not isinstance(value, (list, tuple)):
            self.refuse(where, "is no array")
            return []
        return [read(item, f"{where}[{index}]") for index, item in enumerate(cast("list[object]", value))]

    def text(self, value: object, where: str, *, empty: bool = False) -> str:
        if type(value) is not str or not (value or empty):
            self.refuse(where, "is no text" if empty else "is no text, or an empty one")
            return ""
        try:
            check(value, where)
        except NotJson as bad:
            self.refuse(where, bad.reason)
        return value

    def boolean(self, value: object, where: str) -> bool:
        if type(value) is not bool:
            self.refuse(where, "is neither true nor false")
        return value is True

    def seconds(self, value: object, where: str) -> float:
        if type(value) not in (int, float) or not 0 < cast("float", value) <= _LONGEST_SECONDS:
            self.refuse(where, f"is no number of seconds above 0 and up to {_LONGEST_SECONDS}")
            return 1
        return cast("float", value)

    def times(self, value: object, where: str) -> int:
        if type(value) is not int or not 0 <= value <= MOST_RETRIES:
            self.refuse(where, f"is no whole number from 0 to {MOST_RETRIES}")
            return 0
        return value

    def refuse(self, where: str, message: str) -> None:
        self.issues.append({"where": where, "message": message})


_LONGEST_SECONDS = 100 * 366 * 86_400

_DISPOSITIONS: Mapping[str, tuple[str, ...]] = {
    "runSync": (),
    "runAsync": (),
    "runIsolated": ("spec",),
    "defer": ("reason", "approval", "expiresSeconds"),
    "decorate": ("decorators", "inner"),
}

_DECORATORS: Mapping[str, tuple[str, ...]] = {
    "withTimeout": ("seconds",),
    "withRetries": ("times",),
    "withCacheKey": ("key",),
    "withLabel": ("text",),
}


def _camel(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])_([a-z0-9])", lambda found: found[1].upper(), key)
