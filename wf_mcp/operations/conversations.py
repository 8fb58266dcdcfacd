"""How the turns of a session are told."""

from typing import Any

from wf_core.calls.results import ToolResult, result_to_json
from wf_core.calls.tracked import TrackedCall
from wf_core.jsonvalue import JsonValue, shorten
from wf_core.sessions import LlmTurn, Notice, PartialUserTurn, PlacedResult, Session, Turn, UserTurn
from wf_mcp.execution.records import SHOWN_BYTES
from wf_mcp.operations.session_models import TurnView


def conversation(session: Session, most: int) -> list[TurnView]:
    """Tell the last `most` turns, the oldest first."""
    return [_turn(turn) for turn in session.turns[-most:]] if most else []


def queued(session: Session) -> list[JsonValue]:
    """Tell what the user said and no turn holds yet, the oldest first."""
    return [_short(words) for words in session.queries]


def _turn(turn: Turn) -> TurnView:
    match turn:
        case UserTurn():
            return TurnView(
                id=turn.id,
                by="user",
                text=_short(turn.query),
                results=[_told(result) for result in turn.results],
                notices=[_told(notice) for notice in turn.notices],
            )
        case LlmTurn():
            asked = [
                {"name": call.name, "arguments": _short(call.arguments), "id": call.provider_call_id}
                for call in turn.tool_calls
            ]
            return TurnView(id=turn.id, by="model", text=_short(turn.text), calls=asked)
        case PartialUserTurn():
            return TurnView(id=turn.id, by="user", calls=[_tracked(call) for call in turn.calls])


def _tracked(call: TrackedCall) -> dict[str, Any]:
    return {
        "call_id": call.id,
        "name": call.name,
        "arguments": _short(call.arguments),
        "state": call.state,
        "rule": call.policy.rule,
        "result": None if call.result is None else _result(call.result),
    }


def _told(told: PlacedResult | Notice) -> dict[str, Any]:
    return {
        "call_id": told.call_id,
        "name": told.name,
        "result": _result(told.result),
        "held": told.held,
    }


def _result(result: ToolResult) -> JsonValue:
    return _short(result_to_json(result))


def _short(value: JsonValue) -> JsonValue:
    return shorten(value, SHOWN_BYTES)
