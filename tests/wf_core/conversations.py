"""Sessions for tests: agents with tools of every kind, and a session that is replayed after every transition."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from wf_core.calls.policy import ToolCall
from wf_core.calls.tracked import TrackedCall
from wf_core.codec.sessions import dump_header, dump_session, replay
from wf_core.errors import BrokenHistory
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import (
    AgentSnapshot,
    AskModel,
    PartialUserTurn,
    Session,
    ToolDefinition,
    check_history,
    next_action,
)
from wf_core.sessions import start as start_session

T = TypeVar("T")

SEED = "a seed of 128 bits"

TEXT_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}

POLICY: dict[str, JsonValue] = {
    "default": {"tag": "runSync"},
    "rules": [
        {"tool": "remote", "disposition": {"tag": "defer", "reason": "external worker"}},
        {"tool": "pay", "disposition": {"tag": "defer", "reason": "needs a person", "approval": True}},
        {"tool": "bash", "disposition": {"tag": "runIsolated", "spec": {"image": "local/bash:1"}}},
        {"tool": "build", "disposition": {"tag": "runAsync"}},
    ],
}


def tool(name: str, *, read_only: bool = False, schema: Any = None) -> ToolDefinition:
    """Give a tool of the source `ops`."""
    return ToolDefinition(
        name=name,
        capability=f"ops.{name}",
        source="ops",
        description=f"Does {name}.",
        input_schema={"type": "object"} if schema is None else schema,
        output_schema={},
        outcomes=("ok",),
        digest=f"sha256:{name}",
        read_only=read_only,
        idempotent=False,
    )


TOOLS = (
    tool("count", read_only=True, schema=TEXT_SCHEMA),
    tool("write"),
    tool("remote"),
    tool("pay"),
    tool("bash"),
    tool("build"),
    tool("watch", read_only=True),
)


def agent(**changes: Any) -> AgentSnapshot:
    """Give an agent that has every tool, and a rule for most."""
    given: Mapping[str, Any] = {"policy": POLICY, "tools": TOOLS, **changes}
    return AgentSnapshot("helper", "Helps.", "You help.", "scripted:answers.json", **given)


def start(query: str | None = "Count the words.", **changes: Any) -> Session:
    """Open a session of such an agent."""
    return start_session(id="sess_1", seed=SEED, agent=agent(**changes), query=query)


def call(name: str, provider_call_id: str = "", **arguments: JsonValue) -> ToolCall:
    """Ask for a call, as a model does."""
    return ToolCall(name, arguments, provider_call_id)


def calls(session: Session) -> list[TrackedCall]:
    """Give the calls of the partial turn."""
    last = session.turns[-1]
    assert isinstance(last, PartialUserTurn)
    return last.calls


def states(session: Session) -> list[str]:
    """Give their states."""
    return [one.state for one in calls(session)]


class Replayed:
    """A session whose transitions are checked: its events make the same session again, a refusal changes nothing."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lines: list[bytes] = []
        self.check()

    def do(self, transition: Callable[..., T], *args: Any, **named: Any) -> T:
        """Make a transition."""
        before, position = dump_session(self.session), self.session.position
        try:
            given = transition(self.session, *args, **named)
        except Exception:
            assert dump_session(self.session) == before
            assert self.session.take_events() == []
            raise
        assert self.session.position - position == len(self.session.fresh_events) <= 1
        if self.session.position == position:
            assert dump_session(self.session) == before
        self.check()
        return given

    def check(self) -> None:
        """See that the events so far make the same session."""
        self.lines += self.session.take_events()
        again = replay(dump_header(self.session), self.lines)
        assert dump_session(again) == dump_session(self.session)
        assert again == self.session
        action = next_action(self.session)
        assert next_action(again) == action
        if isinstance(action, AskModel):
            try:
                check_history(self.session.turns)
            except BrokenHistory as broken:
                raise AssertionError(str(broken)) from broken
