"""Rows of waiting calls and cached results as records, and what of a record has columns of its own.

Columns that are looked up hold tokens, ids and digests only: a principal and a key may be any text.
"""

from wf_artifacts.calls.models import CACHED, WAITING, CachedResult, Waiting
from wf_artifacts.calls.rules import key_digest, milliseconds, place_of, principal_digest
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.rows import load
from wf_artifacts.storage.statements import Value


def call_document(token: str) -> str:
    return f"calls/{token}"


def result_document(digest: str) -> str:
    return f"cache/{digest}"


def call_columns(waiting: Waiting) -> dict[str, Value]:
    """Give what `insert_continuation` stores.

    Raises:
        NotJson: a value is no strict JSON.
    """
    continuation = waiting.continuation
    return {
        "token": continuation.token,
        "session_id": continuation.session_id,
        "principal": principal_digest(continuation.principal),
        "place": place_of(continuation),
        "state": waiting.state,
        "document": WAITING.encode(waiting),
    }


def read_call(row: Row) -> Waiting:
    """Read a call whose columns a statement gives in the order of `continuation`.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read, or is another's.
    """
    place, token, session_id, principal, state, document = row
    where = call_document(token)
    waiting = load(document, WAITING, where, token=token, state=state)
    continuation = waiting.continuation
    if continuation.session_id != session_id:
        raise corrupt(where, f"its session_id is {continuation.session_id!r}")
    if principal_digest(continuation.principal) != principal:
        raise corrupt(where, "it belongs to somebody else")
    if place_of(continuation) != place:
        raise corrupt(where, "it was created at another time")
    return waiting


def result_columns(entry: CachedResult) -> dict[str, Value]:
    """Give what `put_cached_result` stores.

    Raises:
        NotJson: a value is no strict JSON.
    """
    return {
        "digest": key_digest(entry.key),
        "created_at": milliseconds(entry.created_at),
        "document": CACHED.encode(entry),
    }


def read_result(row: Row) -> CachedResult:
    """Read a result whose columns a statement gives in the order of `cached_result`.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read, or is another's.
    """
    digest, created_at, document = row
    entry = load(document, CACHED, result_document(digest))
    if key_digest(entry.key) != digest:
        raise corrupt(result_document(digest), "it is the row of another key")
    if milliseconds(entry.created_at) != created_at:
        raise corrupt(result_document(digest), "it was stored at another time")
    return entry
