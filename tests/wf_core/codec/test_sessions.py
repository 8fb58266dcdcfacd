"""The stored form of a session: its golden file, exact replay, and every damage named with its place."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest

from tests.documents import resealed
from tests.wf_core.codec.conversation import everything, forked
from tests.wf_core.conversations import start
from wf_core.codec.sessions import dump_header, dump_session, load_header, replay
from wf_core.errors import FormatTooNew, StateCorrupt
from wf_core.jsonvalue import dumps
from wf_core.sessions import Session, SessionHeader, next_action

GOLDEN = Path(__file__).parent / "golden"
FILES = {"session_v3.jsonl": everything, "session_fork_v3.jsonl": forked}
PLAIN = {"session_v2.jsonl": everything, "session_fork_v2.jsonl": forked}
FIRST = {"session_v1.jsonl": everything, "session_fork_v1.jsonl": forked}

FREE = frozenset(
    {"arguments", "content", "input_schema", "output_schema", "policy", "runner", "origin", "spec", "names"}
)
"""Keys under which any JSON may stand."""

CLOSED = frozenset({"disposition", "result"})
"""Keys whose values have optional keys; what is read of them is tested with their readers."""

Place = tuple[str | int, ...]


def stored(session: Session) -> list[bytes]:
    """Give the header and the events, as a store would hold them."""
    return [dump_header(session), *session.fresh_events]


def golden(name: str) -> list[bytes]:
    return (GOLDEN / name).read_bytes().splitlines()


@pytest.mark.parametrize("name", FILES)
def test_the_format_stays_what_it_is(name: str) -> None:
    """A change here needs a new version, an upgrade, and a golden file of its own."""
    assert stored(FILES[name]()) == golden(name)


@pytest.mark.parametrize("name", FILES)
def test_a_stored_session_goes_on_as_one_that_was_not(name: str) -> None:
    session = FILES[name]()
    header, *lines = golden(name)
    again = replay(header, lines)
    assert again == session
    assert dump_session(again) == dump_session(session)
    assert next_action(again) == next_action(session)
    assert again.fresh_events == []
    assert again.position == len(lines)


@pytest.mark.parametrize("name", PLAIN)
def test_a_session_of_version_2_had_no_checksum(name: str) -> None:
    header, *lines = golden(name)
    assert json.loads(header)["version"] == 2
    assert replay(header, lines) == PLAIN[name]()


@pytest.mark.parametrize("name", FIRST)
def test_a_session_of_version_1_had_no_policy_beside_its_own(name: str) -> None:
    session = FIRST[name]()
    session.callers = ()
    header, *lines = golden(name)
    assert json.loads(header)["version"] == 1
    assert replay(header, lines) == session


def test_names_in_the_policy_of_a_caller_are_texts() -> None:
    document = json.loads(golden("session_v3.jsonl")[0])
    document["body"]["callers"][0]["names"]["ops.pay"] = 1
    with pytest.raises(StateCorrupt) as caught:
        load_header(resealed(dumps(document)))
    assert caught.value.details["where"] == "header.callers[0].names"


def test_it_can_be_replayed_up_to_any_event() -> None:
    header, *lines = golden("session_v3.jsonl")
    for length in range(1, len(lines) + 1):
        assert replay(load_header(header), lines[:length]).position == length


def test_every_kind_of_event_is_in_the_golden_files() -> None:
    kinds = {json.loads(line)["event"] for name in FILES for line in golden(name)[1:]}
    assert kinds == {
        "started",
        "forked",
        "said",
        "answered",
        "begun",
        "completed",
        "deferred",
        "released",
        "expired",
        "woken",
        "held",
        "taken_over",
    }


def test_a_header_is_read_as_it_was_written() -> None:
    session = everything()
    header = SessionHeader(session.id, session.seed, session.agent, session.parent, session.callers)
    assert load_header(dump_header(session)) == header
    assert dump_header(load_header(dump_header(session))) == dump_header(session)


def test_the_prompt_and_the_tools_are_stored_once() -> None:
    header, *lines = stored(everything())
    assert header.count(b"You help.") == 1
    assert not [line for line in lines if b"You help." in line or b"input_schema" in line]


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every place of a record, not those inside values that may be any JSON."""
    yield place, value
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if key in CLOSED:
                yield (*place, key), inner
            elif key not in FREE:
                yield from places(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from places(inner, (*place, index))


def damaged(document: Any, place: Place, value: Any) -> bytes:
    """Put another value at a place; `...` removes what is there."""
    changed = deepcopy(document)
    holder = changed
    for step in place[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return dumps(changed)


def damages(document: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the document with each place damaged: a key missing, one too many, a value of another type."""
    for place, value in places(document):
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        if isinstance(value, dict) and not CLOSED & {*place}:
            yield f"{where} + key", damaged(document, (*place, "odd"), 1) if place else dumps({**document, "odd": 1})
        if place and isinstance(place[-1], str):
            yield f"{where} missing", damaged(document, place, ...)
            yield f"{where} another type", damaged(document, place, [[]])


@pytest.mark.parametrize("name", FILES)
def test_damage_to_any_event_is_named_with_its_line(name: str) -> None:
    header, *lines = golden(name)
    for number, line in enumerate(lines):
        for what, damage in damages(json.loads(line)):
            with pytest.raises(StateCorrupt, match="The stored session is damaged") as caught:
                replay(header, [*lines[:number], damage, *lines[number + 1 :]])
            where = str(caught.value.details["where"])
            assert where.startswith(f"events[{number}]"), f"{what}: {where}"
            assert caught.value.hint is not None


def test_damage_to_the_header_is_named() -> None:
    document = json.loads(golden("session_v3.jsonl")[0])
    del document["body"]["crc32"]
    for what, damage in damages(document["body"]):
        with pytest.raises(StateCorrupt) as caught:
            load_header(resealed(dumps({**document, "body": json.loads(damage)})))
        assert str(caught.value.details["where"]).startswith("header"), what


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"event":"held"} {"event":"held"}',
        b'{"event":"held","event":"held"}',
        b'\xef\xbb\xbf{"event":"held"}',
        b'{"event":"melted"}',
        b'{"event":"held","why":1}',
        b'{"kind":"held"}',
        b'{"event":"woken","deliveries":[{"call":"t2.0","kind":"shrug"}]}',
        b'{"event":"woken","deliveries":[{"call":"t2.0","kind":"approval","result":{"type":"text","content":""}}]}',
        b'{"event":"completed","call":"t2.0","result":{"type":"media","mimeType":"a","base64Data":""}}',
        b'{"event":"completed","call":"t2.0","result":{"type":"text","content":"x","error":false}}',
        b'{"event":"answered","text":"","calls":[],"usage":{"input_tokens":-1,"output_tokens":0}}',
    ],
)
def test_a_line_that_is_no_event_is_named(line: bytes) -> None:
    session = start()
    with pytest.raises(StateCorrupt, match=r"events\[1\]"):
        replay(dump_header(session), [*session.fresh_events, line])


def test_events_in_an_illegal_order_are_refused() -> None:
    """Leaving one out, or having it twice, is seen at the latest where the next one does not fit."""
    header, *lines = golden("session_v3.jsonl")
    for number, line in enumerate(lines):
        kind = json.loads(line)["event"]
        if kind in ("said", "taken_over"):
            continue  # may be said, and found, twice
        with pytest.raises(StateCorrupt, match=r"is not allowed where it stands") as caught:
            replay(header, [*lines[: number + 1], line])
        assert caught.value.details["where"] == f"events[{number + 1}]"
    with pytest.raises(StateCorrupt, match=r"events\[0\] is not allowed"):
        replay(header, lines[1:])
    with pytest.raises(StateCorrupt, match="are missing"):
        replay(header, [])


def test_a_newer_format_is_left_to_a_newer_version() -> None:
    document = json.loads(golden("session_v3.jsonl")[0])
    with pytest.raises(FormatTooNew):
        replay(dumps({**document, "version": 4}), [])


@pytest.mark.parametrize("header", [b"", b"{}", b'{"format":"wf.run","version":1,"body":{}}'])
def test_what_is_no_header_is_refused(header: bytes) -> None:
    with pytest.raises(StateCorrupt):
        replay(header, [])
