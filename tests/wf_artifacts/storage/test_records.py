"""Records convert nothing."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from wf_artifacts.storage.records import Array, Record, Time


class Thing(Record):
    at: Time
    names: Array[str]


NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_times_and_tuples_have_a_json_form() -> None:
    thing = Thing(at=NOON, names=("a", "b"))
    written = {"at": "2026-11-30T12:00:00.000Z", "names": ["a", "b"]}
    assert thing.model_dump() == written
    assert Thing.model_validate(written) == thing


@pytest.mark.parametrize(
    "body",
    [
        {"at": "2026-11-30", "names": []},
        {"at": 0, "names": []},
        {"at": "2026-11-30T12:00:00.000Z", "names": "ab"},
        {"at": "2026-11-30T12:00:00.000Z", "names": [1]},
        {"at": "2026-11-30T12:00:00.000Z", "names": [], "more": 1},
    ],
)
def test_anything_else_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Thing.model_validate(body)


def test_a_record_is_frozen() -> None:
    thing = Thing(at=NOON, names=())
    with pytest.raises(ValidationError):
        thing.names = ("x",)  # pyright: ignore[reportAttributeAccessIssue]
