"""The body of a document as a run: exactly what `writing` writes, each field in its place and of its type.

Whether the parts of a run agree with each other is for `integrity` to say.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args

from wf_core.codec.fields import Fields, as_count, as_text, corrupt, read_each
from wf_core.jsonvalue import JsonSchema
from wf_core.plan.reducers import REDUCERS
from wf_core.state import (
    Activity,
    Asking,
    Awaited,
    Call,
    Calling,
    ChildEnd,
    Counters,
    Delayed,
    Frame,
    InChild,
    Interrupt,
    Layer,
    Lineage,
    Looping,
    Pending,
    Role,
    RunError,
    RunState,
    RunStatus,
    Scope,
    Settled,
    SideEffects,
    Speaker,
    WordKind,
    Write,
)

Json = dict[str, Any]
R = TypeVar("R")
K = TypeVar("K", int, str)


def read_run(body: Json) -> RunState:
    """Read a run.

    Raises:
        StateCorrupt: something is missing, unknown, or of another type; the error says where.
    """
    with Fields(body, "run") as fields:
        with Fields(fields.any("counters"), "run.counters") as numbers:
            counters = Counters(
                frame=numbers.count("frame"),
                scope=numbers.count("scope"),
                call=numbers.count("call", least=1),
                interrupt=numbers.count("interrupt", least=1),
            )
        return RunState(
            run_id=fields.of(str, "run_id"),
            status=fields.one_of(cast("tuple[RunStatus, ...]", get_args(RunStatus)), "status"),
            outcome=fields.maybe(str, "outcome"),
            output=fields.any("output"),
            error=_read_maybe_error(fields.any("error"), "run.error"),
            position=fields.count("position"),
            steps_executed=fields.count("steps_executed"),
            trace_count=fields.count("trace_count"),
            counters=counters,
            scopes=_by_id(fields.each("scopes", _read_scope), lambda scope: scope.id, "run.scopes"),
            lineages=_by_id(fields.each("lineages", _read_lineage), lambda lineage: lineage.frame, "run.lineages"),
            frames=_by_id(fields.each("frames", _read_frame), lambda frame: frame.id, "run.frames"),
            ready=deque(fields.each("ready", as_count)),
            calls=_by_id(fields.each("calls", _read_call), lambda call: call.id, "run.calls"),
            interrupts=_by_id(fields.each("interrupts", _read_interrupt), lambda one: one.id, "run.interrupts"),
        )


def _by_id(records: list[R], name: Callable[[R], K], where: str) -> dict[K, R]:
    """Index records by id, each of which stands once."""
    indexed = {name(record): record for record in records}
    if len(indexed) != len(records):
        raise corrupt(where, "names an id twice")
    return indexed


def _read_scope(value: Any, where: str) -> Scope:
    with Fields(value, where) as fields:
        return Scope(
            id=fields.count("id"),
            program=fields.texts("program"),
            input=fields.any("input"),
            layer=Layer(fields.object("state")),
        )


def _read_lineage(value: Any, where: str) -> Lineage:
    with Fields(value, where) as fields:
        return Lineage(
            frame=fields.count("frame"),
            scope=fields.count("scope"),
            parent=fields.maybe(int, "parent"),
            layer=Layer({}, None, fields.each("writes", _read_write)),
        )


def _read_frame(value: Any, where: str) -> Frame:
    with Fields(value, where) as fields:
        return Frame(
            id=fields.count("id"),
            role=fields.one_of(cast("tuple[Role, ...]", get_args(Role)), "role"),
            scope=fields.count("scope"),
            parent=fields.maybe(int, "parent"),
            index=fields.maybe(int, "index"),
            lineage=fields.maybe(int, "lineage"),
            step_id=fields.of(str, "step_id"),
            attempt=fields.count("attempt", least=1),
            started_at=fields.maybe_time("started_at"),
            activity=_read_activity(fields.any("activity"), f"{where}.activity"),
        )


def _read_activity(value: Any, where: str) -> Activity | None:
    if value is None:
        return None
    with Fields(value, where) as fields:
        match fields.one_of(("calling", "delayed", "pending", "asking", "in_child", "looping"), "kind"):
            case "calling":
                return Calling(fields.of(str, "call"))
            case "delayed":
                return Delayed(fields.time("due_at"), _read_call(fields.any("call"), f"{where}.call"))
            case "pending":
                return _read_pending(fields)
            case "asking":
                return Asking(fields.of(str, "interrupt"))
            case "in_child":
                return InChild(fields.count("frame"), _read_child_end(fields.any("ended"), f"{where}.ended"))
            case _:
                return _read_loop(fields)


def _read_pending(fields: Fields) -> Pending:
    return Pending(
        call=_read_call(fields.any("call"), f"{fields.where}.call"),
        awaits=fields.one_of(cast("tuple[Awaited, ...]", get_args(Awaited)), "awaits"),
        reason=fields.of(str, "reason"),
        since=fields.time("since"),
        expires_at=fields.maybe_time("expires_at"),
    )


def _read_child_end(value: Any, where: str) -> ChildEnd | None:
    if value is None:
        return None
    with Fields(value, where) as fields:
        error = _read_maybe_error(fields.any("error"), f"{where}.error")
        return ChildEnd(fields.maybe(str, "outcome"), fields.any("output"), error)


def _read_loop(fields: Fields) -> Looping:
    return Looping(
        items=fields.array("items"),
        next_index=fields.count("next_index"),
        active=_read_by_item(fields, "active", as_count),
        writes=_read_by_item(fields, "writes", lambda log, where: read_each(log, where, _read_write)),
        failures=_read_by_item(fields, "failures", _read_error),
        broken=fields.of(bool, "broken"),
        parked=_read_by_item(fields, "parked", lambda numbers, where: read_each(numbers, where, as_count)),
    )


def _read_by_item(fields: Fields, key: str, read: Callable[[Any, str], R]) -> dict[int, R]:
    """Read pairs of an item's index and what belongs to the item, each item once."""

    def read_pair(value: Any, where: str) -> tuple[int, R]:
        match value:
            case [index, content]:
                return as_count(index, where), read(content, where)
            case _:
                raise corrupt(where, "is no pair")

    pairs = fields.each(key, read_pair)
    return {index: pair[1] for index, pair in _by_id(pairs, lambda pair: pair[0], f"{fields.where}.{key}").items()}


def _read_write(value: Any, where: str) -> Write:
    match value:
        case [[str(), *_] as path, str(reducer), incoming] if reducer in REDUCERS:
            return tuple(read_each(path, where, as_text)), reducer, incoming
        case _:
            raise corrupt(where, "is no write")


def _read_call(value: Any, where: str) -> Call:
    with Fields(value, where) as fields:
        return Call(
            id=fields.of(str, "id"),
            frame=fields.count("frame"),
            capability=fields.of(str, "capability"),
            input=fields.object("input"),
            attempt=fields.count("attempt"),
            started_at=fields.time("started_at"),
            side_effects=_read_effects(fields),
            settled=_read_settled(fields.any("settled"), f"{where}.settled"),
        )


def _read_settled(value: Any, where: str) -> Settled | None:
    if value is None:
        return None
    with Fields(value, where) as fields:
        return Settled(
            kind=fields.one_of(cast("tuple[WordKind, ...]", get_args(WordKind)), "kind"),
            at=fields.time("at"),
            by=fields.one_of(cast("tuple[Speaker, ...]", get_args(Speaker)), "by"),
        )


def _read_interrupt(value: Any, where: str) -> Interrupt:
    with Fields(value, where) as fields:
        return Interrupt(
            id=fields.of(str, "id"),
            frame=fields.count("frame"),
            kind=fields.of(str, "kind"),
            step_id=fields.of(str, "step_id"),
            path=fields.texts("path"),
            payload=fields.any("payload"),
            outcomes=fields.texts("outcomes"),
            request_schema=_read_schema(fields.any("request_schema"), f"{where}.request_schema"),
            resume_schema=_read_schema(fields.any("resume_schema"), f"{where}.resume_schema"),
            outcome_schemas={
                outcome: _read_schema(schema, f"{where}.outcome_schemas.{outcome}")
                for outcome, schema in fields.object("outcome_schemas").items()
            },
            typed=fields.of(bool, "typed"),
            answered_by=fields.one_of(("anyone", "person"), "answered_by"),
            opened_at=fields.time("opened_at"),
        )


def _read_schema(value: Any, where: str) -> JsonSchema:
    if not isinstance(value, (dict, bool)):
        raise corrupt(where, "is no schema")
    return cast("JsonSchema", value)


def _read_effects(fields: Fields) -> SideEffects:
    return fields.one_of(cast("tuple[SideEffects, ...]", get_args(SideEffects)), "side_effects")


def _read_maybe_error(value: Any, where: str) -> RunError | None:
    return None if value is None else _read_error(value, where)


def _read_error(value: Any, where: str) -> RunError:
    with Fields(value, where) as fields:
        return RunError(
            code=fields.of(str, "code"),
            message=fields.of(str, "message"),
            step_id=fields.maybe(str, "step_id"),
            path=fields.texts("path"),
            attempt=fields.count("attempt", least=1),
            side_effects=_read_effects(fields),
            details=fields.object("details"),
        )
