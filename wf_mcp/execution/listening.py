"""A run or a session while this process advances it: what the advancing task is told, and who waits for it."""

from collections import deque
from typing import Generic, TypeVar

import anyio

from wf_core.errors import WfError

E = TypeVar("E")


class Offer:
    """Something that is said to the advancing task, by somebody who waits to hear whether it is taken."""

    def __init__(self) -> None:
        self._taken = False
        self._refusal: WfError | None = None
        self._settled = anyio.Event()

    def take(self) -> None:
        """Acknowledge it: it is stored."""
        self._taken = True
        self._settled.set()

    def refuse(self, refusal: WfError) -> None:
        """Say why it is not taken; it has changed nothing."""
        self._refusal = refusal
        self._settled.set()

    def pass_over(self) -> None:
        """Say that nothing is advanced here any more. What was said of the offer before stands."""
        self._settled.set()

    async def taken(self) -> bool:
        """Wait for the word, and give whether it was taken, or else passed over.

        Raises:
            WfError: it was refused.
        """
        await self._settled.wait()
        if self._refusal is not None:
            raise self._refusal
        return self._taken


class Listening(Generic[E]):
    """What is told of events `E`, until it is put down."""

    def __init__(self) -> None:
        self.fault: WfError | None = None
        """Why advancing ended although there was no stop. What is advanced stands as it was last stored."""
        self._inbox: deque[E] = deque()
        self._offers: list[Offer] = []
        """Those on which the word may be outstanding."""
        self._arrived = anyio.Event()
        self._ended = anyio.Event()

    def post(self, event: E) -> None:
        """Let the advancing task know of `event`."""
        self._inbox.append(event)
        self._arrived.set()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was posted that has not been taken."""
        return not self._inbox

    async def wait_for_news(self, *, seconds: float | None) -> None:
        """Wait for at most `seconds` until something was posted, and leave it."""
        if not self._inbox:
            with anyio.move_on_after(seconds):
                await self._arrived.wait()

    async def receive(self, *, seconds: float | None) -> list[E]:
        """Wait for at most `seconds` for what was posted, and take all of it, in the order in which it came."""
        await self.wait_for_news(seconds=seconds)
        taken = list(self._inbox)
        self._inbox.clear()
        if taken:
            self._arrived = anyio.Event()
        return taken

    def end(self) -> None:
        """Let those go who wait; what was advanced is stored and its claim is free."""
        self._ended.set()
        for offer in self._offers:
            offer.pass_over()

    async def wait(self) -> None:
        """Wait until nobody advances it here any more."""
        await self._ended.wait()

    async def _heard(self, offer: Offer) -> bool:
        """Wait for the word on an offer that was posted. After the end it is passed over."""
        if self._ended.is_set():
            return False
        self._offers.append(offer)
        try:
            return await offer.taken()
        finally:
            self._offers.remove(offer)
