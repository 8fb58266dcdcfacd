"""The contracts of every store of continuations, and of every cache of results.

Every change is one step: a reader in any process, also after a crash, sees the state before it or after it. What a
method returned from is stored.

A continuation is open until the first of these: something is delivered, its time comes, or whoever waits closes it.
After that nothing is delivered to it any more. Only a call that is in doubt opens its own again: see `put`.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from wf_artifacts.calls.models import CachedResult, Continuation, Delivery, DeliveryAnswer, Waiting
from wf_artifacts.storage.pages import Page
from wf_core.jsonvalue import JsonValue


class ContinuationStore(Protocol):
    """Keeps continuations, by token.

    With a `principal`, the tokens of others do not exist; None is everybody. A text that cannot be a token is one that
    does not exist. Every method may raise:
        StateError: a stored document that it needs cannot be read; the document was left alone.
        StoreUnavailable, StoreFull: nothing was changed.
    """

    async def put(self, continuation: Continuation) -> Waiting:
        """Store a continuation, and give what is stored.

        One of that token that is there already stays as it is, what was delivered to it included, so a call may be put
        again after a crash. A continuation of kind `in_doubt` takes the place of one that is closed, and of one of
        another kind that is still open: the call was carried out meanwhile, and waits anew.

        Raises:
            InvalidId: the token cannot be one, or the session's id.
            NotJson: a value is no strict JSON.
            ValueError: the token stands for another call.
        """
        ...

    async def load(self, token: str, *, principal: str | None, now: datetime) -> Waiting:
        """Give a continuation. One whose time has come is told as expired.

        Raises:
            CallNotFound: there is none of that token.
        """
        ...

    async def deliver(self, token: str, delivery: Delivery, *, principal: str | None, now: datetime) -> DeliveryAnswer:
        """Deliver to an open continuation.

        Of several deliveries one is `applied`, in any process: the others are `already_completed`, and it stays as it
        is. From `expires_at` on it is `expired`, for ever, whatever the clock says later. One that was closed is
        `already_completed` too.

        Raises:
            NotJson: the result is no strict JSON; nothing was stored.
        """
        ...

    async def close(self, token: str, *, now: datetime) -> bool:
        """Let nothing be delivered any more, because the call is carried out here; tell whether that is so.

        To be done before a call that has a token is begun. An approval, or the word to do it again, that was delivered
        is used up by this. False where a result was delivered, the time has come, or there is no such continuation:
        then that counts. Closing what is closed gives True: only whoever holds the session closes.
        """
        ...

    async def deliveries(self, tokens: Iterable[str], *, now: datetime) -> list[Waiting]:
        """Give those that were delivered or have expired, in the order of `tokens`. What is told stays so.

        Those that cannot be read are left out: `load` names what is wrong with one. Costs what the answer costs, and
        next to nothing for each that is still open and was looked at before.
        """
        ...

    async def first_open(self, tokens: Iterable[str], *, now: datetime, limit: int) -> list[Waiting]:
        """Give the first `limit` of those that are open, in the order of `tokens`.

        Those that cannot be read are left out. Costs what the answer costs, and next to nothing for each that stands
        before it, is not open and was looked at before.
        """
        ...

    async def of_session(self, session_id: str, *, now: datetime) -> list[Waiting]:
        """Give every continuation of a session, whatever its state, the oldest first. Costs what they cost."""
        ...

    async def list_open(
        self, *, principal: str | None, now: datetime, cursor: str | None = None, limit: int
    ) -> Page[Waiting]:
        """Give up to `limit` that are open, the newest first, by time of creation and then by token.

        Costs what the open ones cost, not all that are kept. One that cannot be read is in `Page.damaged` of every
        list that it may belong to, by its token.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def list_all(self, *, cursor: str | None = None, limit: int) -> Page[Waiting]:
        """Give up to `limit`, whatever their state, by token; it may cost what all that are kept cost.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def restore(self, waiting: Waiting) -> None:
        """Bring a continuation from another store, as it is.

        Raises:
            InvalidId, NotJson: as `put`.
            ValueError: its token is taken; nothing was stored.
        """
        ...

    async def delete_of(self, session_id: str) -> None:
        """Delete every continuation of a session; one after the other, so repeat it where it failed."""
        ...


class CallCache(Protocol):
    """Keeps results of calls, by key. A key is any text.

    Every method may raise:
        StoreUnavailable, StoreFull: nothing was changed.
    """

    async def get(self, key: str) -> JsonValue:
        """Give the result that is kept, or None. One that cannot be read is as good as none: a warning is logged."""
        ...

    async def put(self, key: str, result: JsonValue, *, now: datetime) -> None:
        """Keep a result, in the place of an earlier one. Failed results are the caller's to leave out.

        Raises:
            NotJson: the key or the result is no strict JSON.
        """
        ...

    async def prune(self, before: datetime) -> int:
        """Forget the results that were put before a moment, and those that cannot be read; tell how many."""
        ...

    async def list_all(self, *, cursor: str | None = None, limit: int) -> Page[CachedResult]:
        """Give up to `limit` of the results, in no order that means anything. Unreadable ones are in `Page.damaged`.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...
