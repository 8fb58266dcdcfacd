"""What of a waiting call has columns of its own, and which rows are damage."""

from typing import Any

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.samples import LATER, NOW
from wf_artifacts.calls.models import CachedResult, Waiting
from wf_artifacts.calls.rows import call_columns, read_call, read_result, result_columns
from wf_core.errors import NotJson, StateCorrupt

KEPT = Waiting(continuation=continuation(), state="delivered", delivery=delivery(), ended_at=NOW)
ENTRY = CachedResult(key="k", result=[1], created_at=NOW)


def row(**changed: Any) -> tuple[Any, ...]:
    kept = call_columns(KEPT) | changed
    return tuple(kept[name] for name in ("place", "token", "session_id", "principal", "state", "document"))


def test_a_row_gives_the_call_that_was_written() -> None:
    assert read_call(row()) == KEPT


@pytest.mark.parametrize(
    "changed",
    [
        {"token": token(1)},
        {"session_id": "sess_2"},
        {"state": "open"},
        {"place": call_columns(Waiting(continuation=continuation(created_at=LATER)))["place"]},
        {"principal": call_columns(Waiting(continuation=continuation(principal="other")))["principal"]},
        {"document": b""},
        {"document": "text"},
    ],
)
def test_columns_and_document_agree(changed: dict[str, Any]) -> None:
    with pytest.raises(StateCorrupt, match="document calls/call_"):
        read_call(row(**changed))


def test_a_result_stands_under_its_own_key() -> None:
    kept = result_columns(ENTRY)
    stored = (kept["digest"], kept["created_at"], kept["document"])
    assert read_result(stored) == ENTRY
    for column, wrong in ((0, "0" * 64), (1, 5), (2, b"{"), (2, None)):
        with pytest.raises(StateCorrupt, match="document cache/"):
            read_result((*stored[:column], wrong, *stored[column + 1 :]))


def test_what_is_no_json_has_no_row() -> None:
    with pytest.raises(NotJson):
        call_columns(Waiting(continuation=continuation(arguments={"x": "\ud800"})))
    with pytest.raises(NotJson):
        result_columns(ENTRY.model_copy(update={"result": float("nan")}))
