"""Telling clients that a run which they watch has changed.

A client of 2026-07-28 listens on a stream, which the SDK serves from its bus. One of 2025-11-25 has subscribed to the
resource, and is told on its connection. Both hear of every time a run is stored by this process.
"""

from contextlib import suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from wf_mcp.execution.changes import Changes
from wf_mcp.server.resources import run_uri

MOST_WAITING = 1024
"""Changes that may wait to be told. Further ones are dropped: what is told is only that it is worth looking again."""

MOST_SUBSCRIPTIONS = 1024
"""Of clients of 2025-11-25. The oldest make way: nothing says when such a client has gone."""

Request = ServerRequestContext[Any, Any]


class Updates:
    """Knows who watches which run."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._watchers: dict[tuple[str, int], ServerSession] = {}

    async def subscribe(self, request: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Let a client of 2025-11-25 hear of a resource."""
        self._watchers[_name(request, params.uri)] = request.session
        if len(self._watchers) > MOST_SUBSCRIPTIONS:
            del self._watchers[next(iter(self._watchers))]
        return EmptyResult()

    async def unsubscribe(self, request: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Let it hear of a resource no more."""
        self._watchers.pop(_name(request, params.uri), None)
        return EmptyResult()

    async def tell(self, changes: Changes) -> None:
        """Tell of every change, until cancelled."""
        send, receive = anyio.create_memory_object_stream[str](MOST_WAITING)

        def hear(run_id: str) -> None:
            with suppress(anyio.WouldBlock):
                send.send_nowait(run_uri(run_id))

        with send, receive, changes.heard_by(hear):
            await self._pass_on(receive)

    async def _pass_on(self, uris: MemoryObjectReceiveStream[str]) -> None:
        async for uri in uris:
            await self.bus.publish(ResourceUpdated(uri=uri))
            for (watched, _), session in list(self._watchers.items()):
                if watched == uri:
                    await session.send_resource_updated(uri)


def _name(request: Request, uri: Any) -> tuple[str, int]:
    """Name a subscription: the resource, and the connection, known by the handshake that all its requests share."""
    return str(uri), id(request.session.client_params)
