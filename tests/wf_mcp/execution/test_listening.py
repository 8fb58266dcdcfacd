"""What an advancing task is told, and what those hear who wait for it."""

import anyio
import pytest

from wf_core.errors import StaleInterrupt, WfError
from wf_mcp.execution.listening import Listening, Offer

pytestmark = pytest.mark.anyio


class Heard(Listening[Offer | str]):
    """Tells whoever offers something what became of it."""

    async def offer(self, offer: Offer) -> bool:
        self.post(offer)
        return await self._heard(offer)


async def test_what_was_posted_is_taken_all_at_once_in_its_order() -> None:
    live = Heard()
    live.post("first")
    live.post("second")
    await live.wait_for_news(seconds=None)
    assert not live.is_quiet
    assert await live.receive(seconds=None) == ["first", "second"]
    assert live.is_quiet
    assert await live.receive(seconds=0) == []


async def test_waiting_for_events_ends_with_the_time_or_the_first_event() -> None:
    live = Heard()
    assert await live.receive(seconds=0.001) == []

    async def post_soon() -> None:
        live.post("here")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post_soon)
            assert await live.receive(seconds=None) == ["here"]


async def test_an_offer_is_taken_refused_or_passed_over() -> None:
    live, refusal = Heard(), StaleInterrupt("It is not open.")
    heard: dict[str, object] = {}

    async def offer(name: str) -> None:
        try:
            heard[name] = await live.offer(Offer())
        except WfError as error:
            heard[name] = error

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for name in ("taken", "refused", "unread"):
                tasks.start_soon(offer, name)
            await anyio.wait_all_tasks_blocked()
            first, second, _ = (event for event in await live.receive(seconds=None) if isinstance(event, Offer))
            first.take()
            second.refuse(refusal)
            await anyio.wait_all_tasks_blocked()
            assert heard == {"taken": True, "refused": refusal}
            live.end()
    assert heard["unread"] is False


async def test_after_the_end_nobody_waits_and_offers_are_passed_over() -> None:
    live = Heard()
    live.end()
    with anyio.fail_after(5):
        await live.wait()
        assert await live.offer(Offer()) is False
