"""The stored form of a run's inputs: what is written is read again, and nothing else is."""

import json
from collections.abc import Callable
from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.wf_core.kernel import NOW
from wf_core.codec.inputs import dump_input, load_journal
from wf_core.errors import NotJson, StateCorrupt
from wf_core.jsonvalue import dumps
from wf_core.runtime import Answer, CallFailure
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
from wf_core.runtime.work import Settlement

LATER = NOW + timedelta(microseconds=7)
ODD: Any = [10**30, 2**64, 1.0, -0.0, 1e300, "é𝄞\u0000\u2028", None, True, {"": {}, "b": [], "a": 1}]

INPUTS: dict[str, Input] = {
    "next_work": NextWork(LATER),
    "complete": Complete(NOW, "c1", "ok", ODD),
    "complete and go on": Complete(NOW, "c1", "no", {}, goes_on=True),
    "fail": Fail(NOW, "c2", CallFailure("timeout", "late", executed=False, details={"odd": ODD}), 0.25),
    "resume": Resume(NOW, Answer(ODD, "no", "int_1", channel="cli", principal="ada", person=True)),
    "resume the only one": Resume(NOW, Answer({})),
    "cancel": Cancel(NOW, "enough"),
    "cancel for no reason": Cancel(NOW, None),
    "recover": Recover(NOW),
    "settle as completed": Settle(NOW, "c3", Settlement("completed", "error", ODD)),
    "settle as failed": Settle(NOW, "c3", Settlement("failed", message="gone")),
    "settle with retry": Settle(NOW, "c3", Settlement("retry")),
    "settle as approved": Settle(NOW, "c3", Settlement("approved")),
    "settle by the outside": Settle(NOW, "c3", Settlement("completed", output=ODD, by="outside")),
    "settle by the callee": Settle(NOW, "c3", Settlement("failed", message="gone", by="callee")),
    "put off": PutOff(NOW, "c4", "callee", "the session waits"),
    "doubt": Doubt(NOW, "c4", "the session is not there"),
    "expire": Expire(NOW),
}


def line(given: bytes, position: Any = 1, trace: Any = b"[]") -> bytes:
    return b'{"position":%s,"input":%s,"trace":%s}' % (dumps(position), given, trace)


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_is_read_as_it_was_written(name: str) -> None:
    ((position, again, entries),) = load_journal([line(dump_input(INPUTS[name]), 3, b"[{},{}]")])
    assert (position, entries) == (3, 2)
    assert repr(again) == repr(INPUTS[name])


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_is_one_line(name: str) -> None:
    assert b"\n" not in dump_input(INPUTS[name])


def test_times_are_stored_in_utc_whatever_zone_they_were_given_in() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=-3, minutes=-30)))
    assert dump_input(NextWork(there)) == dump_input(NextWork(NOW))


def test_a_whole_number_as_jitter_is_read_again() -> None:
    ((_, again, _),) = load_journal([line(dump_input(Fail(NOW, "c1", CallFailure("a", "b"), 0)))])
    assert again == Fail(NOW, "c1", CallFailure("a", "b"), 0.0)


def test_texts_and_details_that_cannot_be_stored_are_written_as_the_kernel_takes_them() -> None:
    failure = CallFailure("a\ud800", "b\udfff", details={"when": NOW})  # pyright: ignore[reportArgumentType]
    given = [
        Fail(NOW, "c1", failure, 0.0),
        Cancel(NOW, "x\ud800"),
        Settle(NOW, "c1", Settlement("failed", message="\ud800")),
    ]
    (_, failed, _), (_, cancelled, _), (_, settled, _) = load_journal([line(dump_input(one)) for one in given])
    assert isinstance(failed, Fail)
    assert (failed.failure.code, failed.failure.message, list(failed.failure.details)) == ("a?", "b?", ["refused"])
    assert cancelled == Cancel(NOW, "x?")
    assert settled == Settle(NOW, "c1", Settlement("failed", message="?"))


def test_a_result_that_is_no_json_cannot_be_written() -> None:
    with pytest.raises(NotJson):
        dump_input(Complete(NOW, "c1", "ok", float("inf")))


def accepted(data: bytes) -> bool:
    try:
        load_journal([data])
    except StateCorrupt:
        return False
    return True


Change = Callable[[Any], Any]


def changed(name: str, place: tuple[str, ...], change: Change) -> bytes:
    document = json.loads(line(dump_input(INPUTS[name])))
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = change(holder[place[-1]])
    return json.dumps(document).encode()


def records(value: Any, place: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """List the places of the objects that are records, not of those that may hold anything."""
    inside = [key for key in value if isinstance(value[key], dict) and key not in ("details", "output", "payload")]
    return [place, *(found for key in inside for found in records(value[key], (*place, key)))]


@pytest.mark.parametrize("name", INPUTS)
def test_a_field_too_many_or_too_few_is_refused_in_every_record(name: str) -> None:
    document = json.loads(line(dump_input(INPUTS[name])))
    for place in records(document):
        record = document
        for key in place:
            record = record[key]
        # Who settled a call is left out where it was a person, and that the driver goes on where it did not, as in
        # lines of before.
        fewer = [{k: v for k, v in record.items() if k != key} for key in record if key not in ("by", "goes_on")]
        for damaged in ({**record, "extra": 1}, *fewer):
            data = json.dumps(damaged).encode() if not place else changed(name, place, lambda _, now=damaged: now)
            assert not accepted(data)


@pytest.mark.parametrize(
    ("name", "place", "wrong"),
    [
        ("next_work", ("position",), 0),
        ("next_work", ("position",), 1.0),
        ("next_work", ("trace",), {}),
        ("next_work", ("input", "kind"), "unknown"),
        ("next_work", ("input", "now"), "2026-11-30T10:00:00"),
        ("next_work", ("input", "now"), "2026-11-30T10:00:00+02:00"),
        ("next_work", ("input", "now"), 5),
        ("complete", ("input", "call_id"), 1),
        ("complete", ("input", "outcome"), None),
        ("fail", ("input", "jitter"), 1.5),
        ("fail", ("input", "jitter"), -0.5),
        ("fail", ("input", "jitter"), "0"),
        ("fail", ("input", "failure", "executed"), 1),
        ("fail", ("input", "failure", "details"), []),
        ("resume", ("input", "answer", "person"), None),
        ("resume", ("input", "answer", "interrupt_id"), 1),
        ("cancel", ("input", "reason"), 1),
        ("settle as failed", ("input", "settlement", "kind"), "maybe"),
        ("settle as failed", ("input", "settlement", "message"), []),
        ("settle as failed", ("input", "settlement"), None),
    ],
)
def test_a_value_that_cannot_stand_there_is_refused(name: str, place: tuple[str, ...], wrong: Any) -> None:
    assert not accepted(changed(name, place, lambda _: wrong))


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff", b"{}{}", b'{"position":NaN,"input":{},"trace":[]}']
)
def test_a_line_that_is_no_record_is_refused(data: bytes) -> None:
    assert not accepted(data)


def test_the_error_names_the_line_and_the_place() -> None:
    good = line(dump_input(INPUTS["recover"]))
    with pytest.raises(StateCorrupt) as caught:
        load_journal([good, changed("fail", ("input", "failure", "code"), lambda _: 1)])
    assert "journal[1].input.failure.code" in str(caught.value)
