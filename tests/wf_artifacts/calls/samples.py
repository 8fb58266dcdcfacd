"""Waiting calls and deliveries, each as small as it can be."""

from datetime import datetime
from typing import Any

from tests.wf_artifacts.samples import NOW
from wf_artifacts.calls.models import Continuation, Delivery, Waiting
from wf_artifacts.calls.store import ContinuationStore

SESSION = "sess_1"


def token(number: int = 0) -> str:
    return f"call_{number:026}"


def tokens(number: int) -> list[str]:
    return [token(one) for one in range(number)]


def continuation(number: int = 0, **fields: Any) -> Continuation:
    """A call that waits for somebody outside."""
    known: dict[str, Any] = {
        "token": token(number),
        "session_id": SESSION,
        "principal": "local",
        "call_id": f"t1.{number}",
        "name": "fetch_remote",
        "capability": "files.fetch_remote",
        "arguments": {"path": "notes.txt"},
        "kind": "deferred",
        "created_at": NOW,
    }
    return Continuation.model_validate(known | fields)


def delivery(content: Any = "done", at: datetime = NOW, **fields: Any) -> Delivery:
    """What an outside worker says."""
    known: dict[str, Any] = {
        "kind": "result",
        "result": {"type": "json", "content": content},
        "channel": "cli",
        "principal": "local",
        "delivered_at": at,
    }
    return Delivery.model_validate(known | fields)


async def load(calls: ContinuationStore, number: int = 0) -> Waiting:
    return await calls.load(token(number), principal=None, now=NOW)


async def deliver(calls: ContinuationStore, number: int = 0, content: Any = "done", **fields: Any) -> str:
    return await calls.deliver(token(number), delivery(content, **fields), principal=None, now=NOW)


async def listed(calls: ContinuationStore, **asked: Any) -> list[str]:
    asked = {"principal": None, "now": NOW, "limit": 1000} | asked
    page = await calls.list_open(**asked)
    return [waiting.token for waiting in page.items]


async def put_all(calls: ContinuationStore, number: int) -> None:
    for one in range(number):
        await calls.put(continuation(one))
