"""The same bytes make the same record."""

import pytest

from tests.wf_artifacts.sessions.samples import session
from wf_artifacts.sessions.decoding import LONG_BYTES, decode
from wf_artifacts.sessions.models import SESSION_RECORD
from wf_core.errors import StateCorrupt


def test_a_long_record_is_decoded_once_and_one_that_differs_anew() -> None:
    long = session(answer="x" * LONG_BYTES)
    data = SESSION_RECORD.encode(long)
    first = decode(SESSION_RECORD, data, "sessions/a")
    assert first == long
    assert decode(SESSION_RECORD, bytes(bytearray(data)), "sessions/a") is first
    other = long.model_copy(update={"answer": "y" * LONG_BYTES})
    assert decode(SESSION_RECORD, SESSION_RECORD.encode(other), "sessions/a") == other


def test_what_is_damaged_is_named_by_its_own_name_each_time() -> None:
    data = SESSION_RECORD.encode(session(answer="x" * LONG_BYTES))[:-9]
    for name in ("sessions/a", "sessions/b", "sessions/a"):
        with pytest.raises(StateCorrupt, match=name):
            decode(SESSION_RECORD, data, name)


def test_a_short_record_is_decoded_each_time() -> None:
    data = SESSION_RECORD.encode(session())
    assert decode(SESSION_RECORD, data, "a") == session()
    assert decode(SESSION_RECORD, data, "a") is not decode(SESSION_RECORD, data, "a")
