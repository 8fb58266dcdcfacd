"""The stored form of a run's inputs: one object of compact JSON each, named by `kind`.

They stand in a journal whose format has a version of its own; a reader of an older one upgrades its lines.
"""

from datetime import UTC, datetime
from typing import Any, Literal

from wf_core.codec.fields import Fields, corrupt
from wf_core.errors import NotJson
from wf_core.jsonvalue import dumps, loads, storable
from wf_core.runtime.faults import storable_failure
from wf_core.runtime.inputs import (
    Cancel,
    Complete,
    Doubt,
    Expire,
    Fail,
    Input,
    NextWork,
    PutOff,
    Recover,
    Resume,
    Settle,
)
from wf_core.runtime.work import Answer, CallFailure, Settlement
from wf_core.state import Speaker
from wf_core.times import iso

Json = dict[str, Any]

_KINDS = ("next_work", "complete", "fail", "resume", "cancel", "recover", "put_off", "doubt", "expire", "settle")
_PUT_OFF: tuple[Literal["isolated", "callee"], ...] = ("isolated", "callee")
_WORDS: tuple[Literal["completed", "failed", "retry", "approved"], ...] = ("completed", "failed", "retry", "approved")
_SPEAKERS: tuple[Speaker, ...] = ("person", "outside", "callee")


def dump_input(given: Input) -> bytes:
    """Write an input that was applied.

    Raises:
        NotJson: the result of a call is none; every other input is written as the kernel took it.
    """
    return dumps(_input(given))


def load_journal(lines: list[bytes]) -> list[tuple[int, Input, int]]:
    """Read journal lines: the position that each input leads to, the input, and how many trace entries it made.

    Raises:
        StateCorrupt: a line is damaged; the error says which, and where.
    """
    return [_read_line(line, f"journal[{index}]") for index, line in enumerate(lines)]


def _input(given: Input) -> Json:
    moment = given.now if given.now.tzinfo is UTC else given.now.astimezone(UTC)
    now = moment.isoformat() if moment.microsecond % 1000 else iso(moment)
    match given:
        case NextWork():
            return {"kind": "next_work", "now": now}
        case Complete(_, call_id, outcome, output, goes_on):
            told: Json = {"kind": "complete", "now": now, "call_id": call_id, "outcome": outcome, "output": output}
            # Lines of earlier versions, and those of calls beside which others go on, are without it.
            return {**told, "goes_on": True} if goes_on else told
        case Fail(_, call_id, failure, jitter):
            return {
                "kind": "fail",
                "now": now,
                "call_id": call_id,
                "failure": _failure(failure),
                "jitter": float(jitter),
            }
        case Resume(_, answer):
            return {"kind": "resume", "now": now, "answer": _answer(answer)}
        case Cancel(_, reason):
            return {"kind": "cancel", "now": now, "reason": _text(reason)}
        case Recover():
            return {"kind": "recover", "now": now}
        case PutOff() | Doubt() | Settle():
            return _of_waiting(given, now)
        case Expire():
            return {"kind": "expire", "now": now}


def _of_waiting(given: PutOff | Doubt | Settle, now: str) -> Json:
    match given:
        case PutOff(_, call_id, awaits, reason):
            told = storable(reason)
            return {"kind": "put_off", "now": now, "call_id": call_id, "awaits": awaits, "reason": told}
        case Doubt(_, call_id, reason):
            return {"kind": "doubt", "now": now, "call_id": call_id, "reason": storable(reason)}
        case Settle(_, call_id, settlement):
            return {"kind": "settle", "now": now, "call_id": call_id, "settlement": _settlement(settlement)}


def _failure(failure: CallFailure) -> Json:
    told = storable_failure(failure)
    return {"code": told.code, "message": told.message, "executed": told.executed, "details": told.details}


def _answer(answer: Answer) -> Json:
    return {
        "payload": answer.payload,
        "outcome": answer.outcome,
        "interrupt_id": answer.interrupt_id,
        "channel": answer.channel,
        "principal": answer.principal,
        "person": answer.person,
    }


def _settlement(settlement: Settlement) -> Json:
    told = {
        "kind": settlement.kind,
        "outcome": settlement.outcome,
        "output": settlement.output,
        "message": _text(settlement.message),
    }
    # Lines from before anybody else could say something are without it.
    return told if settlement.by == "person" else {**told, "by": settlement.by}


def _text(told: str | None) -> str | None:
    return None if told is None else storable(told)


def _read_line(line: bytes, where: str) -> tuple[int, Input, int]:
    try:
        document = loads(line)
    except NotJson as bad:
        raise corrupt(where, f"holds {bad.reason}") from bad
    with Fields(document, where) as fields:
        given = _read_input(fields.any("input"), f"{where}.input")
        return fields.count("position", least=1), given, len(fields.array("trace"))


def _read_input(value: Any, where: str) -> Input:
    with Fields(value, where) as fields:
        now = fields.time("now")
        match fields.one_of(_KINDS, "kind"):
            case "next_work":
                return NextWork(now)
            case "complete":
                goes_on = fields.has("goes_on") and fields.of(bool, "goes_on")
                return Complete(
                    now, fields.of(str, "call_id"), fields.of(str, "outcome"), fields.any("output"), goes_on
                )
            case "fail":
                return _read_fail(fields, now)
            case "resume":
                return Resume(now, _read_answer(fields.any("answer"), f"{where}.answer"))
            case "cancel":
                return Cancel(now, fields.maybe(str, "reason"))
            case "recover":
                return Recover(now)
            case "put_off":
                awaits = fields.one_of(_PUT_OFF, "awaits")
                return PutOff(now, fields.of(str, "call_id"), awaits, fields.of(str, "reason"))
            case "doubt":
                return Doubt(now, fields.of(str, "call_id"), fields.of(str, "reason"))
            case "expire":
                return Expire(now)
            case _:
                settlement = _read_settlement(fields.any("settlement"), f"{where}.settlement")
                return Settle(now, fields.of(str, "call_id"), settlement)


def _read_fail(fields: Fields, now: datetime) -> Fail:
    with Fields(fields.any("failure"), f"{fields.where}.failure") as told:
        failure = CallFailure(
            told.of(str, "code"), told.of(str, "message"), told.of(bool, "executed"), told.object("details")
        )
    jitter = fields.of(float, "jitter")
    if not 0 <= jitter <= 1:
        raise corrupt(f"{fields.where}.jitter", "is not from 0 to 1")
    return Fail(now, fields.of(str, "call_id"), failure, jitter)


def _read_answer(value: Any, where: str) -> Answer:
    with Fields(value, where) as fields:
        return Answer(
            payload=fields.any("payload"),
            outcome=fields.of(str, "outcome"),
            interrupt_id=fields.maybe(str, "interrupt_id"),
            channel=fields.of(str, "channel"),
            principal=fields.of(str, "principal"),
            person=fields.of(bool, "person"),
        )


def _read_settlement(value: Any, where: str) -> Settlement:
    with Fields(value, where) as fields:
        return Settlement(
            kind=fields.one_of(_WORDS, "kind"),
            outcome=fields.of(str, "outcome"),
            output=fields.any("output"),
            message=fields.maybe(str, "message"),
            by=fields.one_of(_SPEAKERS, "by") if fields.has("by") else "person",
        )
