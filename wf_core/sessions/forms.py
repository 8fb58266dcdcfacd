"""The JSON of a session's records, as it is stored. Reading it is `wf_core.codec`."""

from wf_core.calls.policy import AppliedPolicy, ToolCall
from wf_core.calls.policy_data import disposition_to_json
from wf_core.calls.results import result_to_json
from wf_core.calls.tracked import TrackedCall
from wf_core.jsonvalue import JsonValue
from wf_core.sessions.models import (
    Attachment,
    LlmTurn,
    Notice,
    PartialUserTurn,
    PlacedResult,
    Session,
    Turn,
    Usage,
    UserTurn,
)

Json = dict[str, JsonValue]


def state_to_json(session: Session) -> Json:
    """Write everything that events change."""
    return {
        "turns": [turn_to_json(turn) for turn in session.turns],
        "held": [tracked_to_json(call) for call in session.held.values()],
        "queries": list(session.queries),
        "attachments": [attachment_to_json(attachment) for attachment in session.attachments],
        "notices": [_notice(notice) for notice in session.notices],
        "asked": session.asked,
    }


def turn_to_json(turn: Turn) -> Json:
    """Write a turn; `kind` is `user`, `llm` or `partial`."""
    match turn:
        case UserTurn():
            return {
                "kind": "user",
                "id": turn.id,
                "query": turn.query,
                "results": [_placed(placed) for placed in turn.results],
                "notices": [_notice(notice) for notice in turn.notices],
                "attachments": [attachment_to_json(attachment) for attachment in turn.attachments],
            }
        case LlmTurn():
            return {
                "kind": "llm",
                "id": turn.id,
                "text": turn.text,
                "tool_calls": [tool_call_to_json(call) for call in turn.tool_calls],
                "usage": usage_to_json(turn.usage),
            }
        case PartialUserTurn():
            return {"kind": "partial", "id": turn.id, "calls": [tracked_to_json(call) for call in turn.calls]}


def tracked_to_json(call: TrackedCall) -> Json:
    """Write a call and what has become of it."""
    return {
        "id": call.id,
        "provider_call_id": call.provider_call_id,
        "name": call.name,
        "arguments": call.arguments,
        **policy_to_json(call.policy),
        "state": call.state,
        "result": None if call.result is None else result_to_json(call.result),
        "continuation_token": call.continuation_token,
        "reason": call.reason,
        "released": call.released,
        "doubted": call.doubted,
    }


def tool_call_to_json(call: ToolCall) -> Json:
    """Write a call as the model asked for it."""
    return {
        "name": call.name,
        "arguments": call.arguments,
        "provider_call_id": call.provider_call_id,
        "capability": call.capability,
    }


def policy_to_json(policy: AppliedPolicy) -> Json:
    """Write why a call runs as it does."""
    return {"disposition": disposition_to_json(policy.disposition), "rule": policy.rule}


def attachment_to_json(attachment: Attachment) -> Json:
    """Write a file of the user's."""
    return {
        "mime_type": attachment.mime_type,
        "base64_data": attachment.base64_data,
        "filename": attachment.filename,
    }


def usage_to_json(usage: Usage) -> Json:
    """Write what an answer used."""
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _placed(placed: PlacedResult) -> Json:
    return {
        "call_id": placed.call_id,
        "provider_call_id": placed.provider_call_id,
        "name": placed.name,
        "result": result_to_json(placed.result),
        "held": placed.held,
    }


def _notice(notice: Notice) -> Json:
    return {
        "call_id": notice.call_id,
        "name": notice.name,
        "result": result_to_json(notice.result),
        "held": notice.held,
    }
