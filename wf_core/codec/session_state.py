"""Reading a session's records as they are stored: turns, calls, results and all that waits to be told.

What is written is `wf_core.sessions.forms`. Every form has one spelling here; the outside's freedom ends where it
enters.
"""

from collections.abc import Mapping
from typing import Any, cast, get_args

from wf_core.calls.policy import AppliedPolicy, ToolCall
from wf_core.calls.policy_data import disposition_to_json, read_disposition
from wf_core.calls.results import ToolResult, read_form, result_to_json
from wf_core.calls.tracked import FINAL, CallState, TrackedCall
from wf_core.codec.fields import Fields, corrupt
from wf_core.errors import BrokenHistory, InvalidPolicy
from wf_core.jsonvalue import canonical
from wf_core.sessions.history import check_turns
from wf_core.sessions.models import (
    Attachment,
    LlmTurn,
    Notice,
    PartialUserTurn,
    PlacedResult,
    Session,
    SessionHeader,
    Turn,
    Usage,
    UserTurn,
)


def read_state(value: object, where: str, header: SessionHeader) -> Session:
    """Read everything that events change, and see that it holds together.

    Raises:
        StateCorrupt: naming the place.
    """
    with Fields(value, where) as fields:
        turns = fields.each("turns", _read_turn)
        held = fields.each("held", _read_tracked)
        session = Session(
            header.id,
            header.seed,
            header.agent,
            turns=turns,
            parent=header.parent,
            callers=header.callers,
            held=_by_id(held, f"{where}.held"),
            queries=list(fields.texts("queries")),
            attachments=fields.each("attachments", read_attachment),
            notices=fields.each("notices", _read_notice),
            asked=fields.count("asked"),
            provider_ids={
                call.provider_call_id for turn in turns if isinstance(turn, LlmTurn) for call in turn.tool_calls
            },
        )
    _check(session, where)
    return session


def read_call_of(fields: Fields) -> ToolCall:
    """Take a call as the model asked for it out of a record that holds more."""
    return ToolCall(
        name=fields.of(str, "name"),
        arguments=fields.any("arguments"),
        provider_call_id=fields.of(str, "provider_call_id"),
        capability=fields.of(str, "capability"),
    )


def read_policy_of(fields: Fields) -> AppliedPolicy:
    """Take what was decided about a call out of a record that holds more."""
    value, where = fields.any("disposition"), f"{fields.where}.disposition"
    try:
        disposition = read_disposition(value, where)
    except InvalidPolicy as bad:
        raise corrupt(bad.issues[0]["where"], str(bad.issues[0]["message"])) from bad
    if canonical(disposition_to_json(disposition)) != canonical(value):
        raise corrupt(where, "is not written as it is stored")
    return AppliedPolicy(disposition, fields.of(str, "rule"))


def read_stored_result(value: Any, where: str) -> ToolResult:
    """Read a result."""
    found = read_form(value)
    if found is None or result_to_json(found) != value:
        raise corrupt(where, "is no result")
    return found


def read_attachment(value: object, where: str) -> Attachment:
    """Read a file of the user's."""
    with Fields(value, where) as fields:
        return Attachment(fields.of(str, "mime_type"), fields.of(str, "base64_data"), fields.maybe(str, "filename"))


def read_usage(value: object, where: str) -> Usage:
    """Read what an answer used."""
    with Fields(value, where) as fields:
        return Usage(fields.count("input_tokens"), fields.count("output_tokens"))


def _read_turn(value: object, where: str) -> Turn:
    """Read a turn."""
    with Fields(value, where) as fields:
        match fields.one_of(("user", "llm", "partial"), "kind"):
            case "user":
                return UserTurn(
                    fields.of(str, "id"),
                    fields.maybe(str, "query"),
                    tuple(fields.each("results", _read_placed)),
                    tuple(fields.each("notices", _read_notice)),
                    tuple(fields.each("attachments", read_attachment)),
                )
            case "llm":
                return LlmTurn(
                    fields.of(str, "id"),
                    fields.of(str, "text"),
                    tuple(fields.each("tool_calls", _read_tool_call)),
                    read_usage(fields.any("usage"), f"{where}.usage"),
                )
            case _:
                return PartialUserTurn(fields.of(str, "id"), fields.each("calls", _read_tracked))


def _read_tracked(value: object, where: str) -> TrackedCall:
    """Read a call and what has become of it."""
    with Fields(value, where) as fields:
        call = TrackedCall(
            id=fields.of(str, "id"),
            provider_call_id=fields.of(str, "provider_call_id"),
            name=fields.of(str, "name"),
            arguments=fields.any("arguments"),
            policy=read_policy_of(fields),
            state=fields.one_of(cast("tuple[CallState, ...]", get_args(CallState)), "state"),
            result=_read_maybe_result(fields.any("result"), f"{where}.result"),
            continuation_token=fields.maybe(str, "continuation_token"),
            reason=fields.maybe(str, "reason"),
            released=fields.of(bool, "released"),
            doubted=fields.of(bool, "doubted"),
        )
    if (call.result is None) == (call.state in FINAL):
        raise corrupt(f"{where}.result", f"does not go with the state {call.state}")
    if call.continuation_token is None and call.state in ("deferred", "in_doubt"):
        raise corrupt(f"{where}.continuation_token", f"does not go with the state {call.state}")
    return call


def _read_tool_call(value: object, where: str) -> ToolCall:
    with Fields(value, where) as fields:
        return read_call_of(fields)


def _read_placed(value: object, where: str) -> PlacedResult:
    with Fields(value, where) as fields:
        return PlacedResult(
            call_id=fields.of(str, "call_id"),
            provider_call_id=fields.of(str, "provider_call_id"),
            name=fields.of(str, "name"),
            result=read_stored_result(fields.any("result"), f"{where}.result"),
            held=fields.of(bool, "held"),
        )


def _read_notice(value: object, where: str) -> Notice:
    with Fields(value, where) as fields:
        return Notice(
            fields.of(str, "call_id"),
            fields.of(str, "name"),
            read_stored_result(fields.any("result"), f"{where}.result"),
            fields.of(bool, "held"),
        )


def _read_maybe_result(value: object, where: str) -> ToolResult | None:
    return None if value is None else read_stored_result(value, where)


def _by_id(calls: list[TrackedCall], where: str) -> dict[str, TrackedCall]:
    indexed = {call.id: call for call in calls}
    if len(indexed) < len(calls):
        raise corrupt(where, "names an id twice")
    return indexed


def _check(session: Session, where: str) -> None:
    """Refuse a state that no events can have made."""
    if not session.turns:
        raise corrupt(f"{where}.turns", "is empty")
    try:
        promised = check_turns(session.turns)
    except BrokenHistory as bad:
        raise corrupt(f"{where}.{bad.details['where']}", str(bad.details["reason"])) from bad
    owed = [*session.held, *(notice.call_id for notice in session.notices if not notice.held)]
    if sorted(owed) != sorted(promised):
        raise corrupt(f"{where}.held", "and the notices are not those of the placeholders that were shown")
    last = session.turns[-1]
    _check_doubts(session, promised, where)
    open_states = [call.state for call in session.held.values()]
    if any(state in FINAL for state in open_states):
        raise corrupt(f"{where}.held", "holds a call that has ended")
    if isinstance(last, PartialUserTurn):
        open_states += [call.state for call in last.calls]
        if all(call.state in FINAL for call in last.calls):
            raise corrupt(f"{where}.turns", "end with a partial turn whose calls have all ended")
    if "running" in open_states:
        raise corrupt(where, "holds a call that runs: a fork runs nothing yet")
    if isinstance(last, LlmTurn) and (session.queries or session.notices):
        raise corrupt(where, "holds back what should have been told")
    if session.attachments and not session.queries:
        raise corrupt(f"{where}.attachments", "belong to no words")


def _check_doubts(session: Session, promised: Mapping[str, bool], where: str) -> None:
    """Refuse doubts of which the model is told twice, or never, or that nobody had."""
    shown = [call_id for call_id, doubted in promised.items() if doubted]
    waiting = [notice.call_id for notice in session.notices if notice.held]
    if len({*shown, *waiting}) < len(shown) + len(waiting):
        raise corrupt(f"{where}.notices", "say again that nobody knows what became of a call")
    told = {*waiting, *(call_id for call_id in shown if call_id in session.held)}
    doubted = {call.id for call in session.held.values() if call.doubted}
    in_doubt = {call.id for call in session.held.values() if call.state == "in_doubt"}
    if not told | in_doubt <= doubted:
        raise corrupt(f"{where}.held", "does not say of which calls the model was told that nobody knows")
    last = session.turns[-1]
    if isinstance(last, PartialUserTurn) and any(call.doubted for call in last.calls):
        raise corrupt(f"{where}.turns", "end with a call of which the model was told nothing yet")
    if waiting and not isinstance(last, PartialUserTurn):
        raise corrupt(f"{where}.notices", "hold back what should have been told")
