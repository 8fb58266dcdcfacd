"""Where a deferred call stands, as far as it can be written down: what has to be there again when its result comes.

Nothing that lives in a process is in it. The record around it, and where it is kept, is `wf_artifacts.calls`.
"""

from dataclasses import dataclass
from typing import Any, cast

from wf_core.errors import StateCorrupt
from wf_core.jsonvalue import JsonValue

_TEXTS = ("session_id", "run_id", "turn_id", "conversation_id", "parent")
_LISTS = ("call_stack", "allowed_tools")


@dataclass(frozen=True, slots=True)
class ContinuationContext:
    """The serialisable part of a call's context."""

    session_id: str | None = None
    run_id: str | None = None
    turn_id: str | None = None
    """The step id, in a workflow."""
    conversation_id: str | None = None
    """The session or run that waits for this one, else this one itself."""
    call_stack: tuple[str, ...] = ()
    """The agent, or the deployment, that makes the call. Who called that is a call of `parent`."""
    allowed_tools: tuple[str, ...] = ()
    parent: str | None = None
    """The session or run that waits for this one."""


def context_to_json(context: ContinuationContext) -> dict[str, JsonValue]:
    """Write a context, snake_case."""
    return {
        "session_id": context.session_id,
        "run_id": context.run_id,
        "turn_id": context.turn_id,
        "conversation_id": context.conversation_id,
        "call_stack": list(context.call_stack),
        "allowed_tools": list(context.allowed_tools),
        "parent": context.parent,
    }


def read_context(value: object, where: str = "context") -> ContinuationContext:
    """Read what `context_to_json` wrote, strictly.

    Raises:
        StateCorrupt: naming the place.
    """
    if not isinstance(value, dict):
        raise _corrupt(where, "is no object")
    members = cast("dict[str, Any]", value)
    if unknown := set(members) ^ {*_TEXTS, *_LISTS}:
        raise _corrupt(where, f"lacks, or should not have, {min(unknown)!r}")
    for key in _TEXTS:
        if members[key] is not None and type(members[key]) is not str:
            raise _corrupt(f"{where}.{key}", "is neither text nor null")
    return ContinuationContext(
        session_id=members["session_id"],
        run_id=members["run_id"],
        turn_id=members["turn_id"],
        conversation_id=members["conversation_id"],
        call_stack=_texts(members["call_stack"], f"{where}.call_stack"),
        allowed_tools=_texts(members["allowed_tools"], f"{where}.allowed_tools"),
        parent=members["parent"],
    )


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or any(type(item) is not str for item in cast("list[object]", value)):
        raise _corrupt(where, "is no array of texts")
    return tuple(cast("list[str]", value))


def _corrupt(where: str, reason: str) -> StateCorrupt:
    return StateCorrupt(
        f"The stored continuation is damaged: {where} {reason}.",
        hint="It was left as it is; restore it from a copy.",
        details={"where": where, "reason": reason},
    )
