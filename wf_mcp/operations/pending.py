"""What waits for the outside."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio

from wf_artifacts.errors import InvalidCursor
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.pages import every
from wf_core.ids import RunId
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations import session_pending, summaries
from wf_mcp.operations.callees import LOOKING_SECONDS, look
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_limit
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.models import PendingItem, PendingList
from wf_mcp.operations.session_summaries import answer_action

Kind = Literal["interrupt", "call"]

_SESSIONS = "sessions."
"""Begins the cursor of a page that is beyond those of runs."""


async def list_pending(
    app: App,
    *,
    run_id: str | None = None,
    session_id: str | None = None,
    only: Kind | None = None,
    cursor: str | None = None,
    limit: int = 20,
    caller: Caller = LOCAL_MODEL,
) -> PendingList:
    """List every open question and every call that waits, of one run or session or of all.

    First those of runs, the newest run first, then those of sessions, the newest first; those of one session in call
    order. A run that is still at other steps is among them as soon as its questions are stored.

    Raises:
        RunNotFound, SessionNotFound: there is none of that id.
        InvalidArgument, InvalidCursor: limit or cursor are not of this list.
    """
    check_limit(limit)
    asked = _Asked(app, run_id, session_id, only, limit, caller)
    found = await asked.page(release(cursor, *asked.filters))
    items = list(found.pending)
    with anyio.move_on_after(LOOKING_SECONDS):
        for index, item in enumerate(items):
            items[index] = await _as_it_stands(app, item)
    return found.model_copy(update={"pending": items})


async def _as_it_stands(app: App, item: PendingItem) -> PendingItem:
    """Say of a call that waits for its callee what that is at, and what to do where it does not go on."""
    owner = item.run_id or item.session_id
    if item.call is None or item.call.awaits != "callee" or owner is None:
        return item
    looked = await look(app, owner, [item.call])
    usual = summaries.settle_action if item.run_id else answer_action
    (call,) = looked.calls
    return item.model_copy(update={"call": call, "next_action": looked.action(call, usual(call))})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is listed, and for whom."""

    app: App
    run_id: str | None
    session_id: str | None
    only: Kind | None
    limit: int
    caller: Caller

    @property
    def filters(self) -> tuple[str | None, ...]:
        return "pending", self.caller.principal, self.run_id, self.session_id, self.only

    async def page(self, place: str | None) -> PendingList:
        """Give the page that begins at a place of this list."""
        if self.session_id is not None:
            if self.run_id is not None:
                raise InvalidArgument("Give `run_id` or `session_id`, not both.", hint="Leave one of them out.")
            return await self._of_session(self.session_id, place)
        if place is not None and place.startswith(_SESSIONS):
            return await self._of_sessions(place.removeprefix(_SESSIONS), self.limit)
        found = await self._of_runs(place)
        if self.run_id is not None or self.only == "interrupt" or found.next_cursor is not None:
            return found
        rest = await self._of_sessions("", self.limit - len(found.pending))
        return PendingList(pending=[*found.pending, *rest.pending], next_cursor=rest.next_cursor)

    async def _of_session(self, session_id: str, place: str | None) -> PendingList:
        calls, following = await session_pending.calls_of_session(
            self.app, session_id, after=place, limit=self.limit, caller=self.caller
        )
        return PendingList(pending=[], next_cursor=None) if self.only == "interrupt" else self._up_to(following, calls)

    async def _of_sessions(self, cursor: str, limit: int) -> PendingList:
        """Give the calls of sessions from a place on; with no room left, just whether there are any."""
        if limit == 0:
            some, _ = await session_pending.calls_of_sessions(self.app, cursor=None, limit=1, caller=self.caller)
            return self._up_to(_SESSIONS if some else None, [])
        calls, following = await session_pending.calls_of_sessions(
            self.app, cursor=cursor or None, limit=limit, caller=self.caller
        )
        return self._up_to(None if following is None else f"{_SESSIONS}{following}", calls)

    async def _of_runs(self, place: str | None) -> PendingList:
        last = _Place.read(place)
        page = last.page
        running = await self._running() if self.run_id is None else []
        items: list[PendingItem] = []
        while True:
            records, following = await self._runs(page)
            for item in _after(last, _merged(records, running, following)):
                if self.only not in (None, item.type):
                    continue
                if len(items) == self.limit:
                    return self._up_to(_Place.of(page, items[-1]).write(), items)
                items.append(item)
            if following is None:
                return self._up_to(None, items)
            page = following

    async def _runs(self, page: str | None) -> tuple[list[RunRecord], str | None]:
        """Give the runs of a page that have stopped, and where the next page begins."""
        runs, principal = self.app.stores.runs, self.caller.principal
        if self.run_id is not None:
            return [await runs.load(RunId(self.run_id), principal=principal)], None
        found = await runs.list_runs(principal=principal, status="interrupted", cursor=page, limit=self.limit)
        return list(found.items), found.next_cursor

    async def _running(self) -> list[RunRecord]:
        """Give the runs that wait for somebody although they have not stopped. Nobody has many runs under way."""
        pages = partial(self.app.stores.runs.list_runs, principal=self.caller.principal, status="running")
        return [record async for record in every(pages) if record.interrupts or record.pending_calls]

    def _up_to(self, place: str | None, items: list[PendingItem]) -> PendingList:
        """Make a page of items, after which the next begins at a place."""
        return PendingList(pending=items, next_cursor=bind(place, *self.filters))


def _merged(stopped: list[RunRecord], running: list[RunRecord], following: str | None) -> list[RunRecord]:
    """Put the running ones that belong on this page among the stopped ones, and take them off their list."""
    oldest = "" if following is None else min((record.run_id for record in stopped), default="~")
    here = [record for record in running if record.run_id > oldest]
    running[:] = [record for record in running if record.run_id <= oldest]
    # One that stopped after it was read as running counts as stopped.
    known = {record.run_id: record for record in (*here, *stopped)}
    return [known[run_id] for run_id in sorted(known, reverse=True)]


@dataclass(frozen=True, slots=True)
class _Place:
    """The last item of a page of this list, and the page of runs that it was found on."""

    page: str | None = None
    run_id: str | None = None
    name: str = ""
    """Of the question or the call in its run."""

    @classmethod
    def of(cls, page: str | None, item: PendingItem) -> "_Place":
        return cls(page, item.run_id, item.interrupt.id if item.interrupt else item.call.token if item.call else "")

    @classmethod
    def read(cls, text: str | None) -> "_Place":
        if text is None:
            return cls()
        try:
            page, run_id, name = urlsafe_b64decode(text.encode()).decode().split(" ")
            _rank(name)
        except (binascii.Error, ValueError) as error:
            raise InvalidCursor(text) from error
        return cls(page or None, run_id, name)

    def write(self) -> str:
        return urlsafe_b64encode(f"{self.page or ''} {self.run_id} {self.name}".encode()).decode()

    def precedes(self, run_id: str, name: str) -> bool:
        """Tell whether an item stands after this place: runs are newest first, what a run waits for oldest first."""
        if self.run_id is None or run_id != self.run_id:
            return self.run_id is None or run_id < self.run_id
        return _rank(name) > _rank(self.name)


def _after(last: _Place, records: list[RunRecord]) -> Iterator[PendingItem]:
    for record in records:
        for stored in record.interrupts:
            interrupt = summaries.question(stored)
            if last.precedes(record.run_id, interrupt.id):
                yield PendingItem(
                    run_id=record.run_id,
                    deployment_id=record.deployment_id,
                    type="interrupt",
                    since=stored["opened_at"],
                    interrupt=interrupt,
                    next_action=summaries.answer_action(record.run_id, interrupt),
                )
        for call in summaries.pending_calls(record):
            if last.precedes(record.run_id, call.token):
                yield PendingItem(
                    run_id=record.run_id,
                    deployment_id=record.deployment_id,
                    type="call",
                    since=call.since,
                    call=call,
                    next_action=summaries.settle_action(call),
                )


def _rank(name: str) -> tuple[bool, int]:
    """Give the place of a question or a call among all that its run waits for: questions first, by number."""
    return name.startswith("call_"), int(name.rpartition("_")[2].removeprefix("c"))
