"""When the application of a server is opened: behind the first answers.

What a client asks first, who the server is and which tools it has, needs none of it, and it takes a while to load.
"""

import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio
from anyio import to_thread

if TYPE_CHECKING:
    from wf_mcp.app import App

Application: TypeAlias = Callable[[], AbstractAsyncContextManager["App"]]
"""Opens an application."""

QUIET_SECONDS: Final = 0.5
"""How long after the start the application is opened unasked: there may be runs and sessions to go on with."""


class Opening:
    """Gives the application to those who need it. Made by `opened_when_needed`."""

    def __init__(self) -> None:
        self._needed = anyio.Event()
        self._opened = anyio.Event()
        self._over = anyio.Event()
        self._app: App

    async def app(self) -> "App":
        """Give the application, opened by the first who asks."""
        self._needed.set()
        await self._opened.wait()
        return self._app

    async def keep(self, load: Callable[[], Application]) -> None:
        """Open it when it is needed, and close it at the end, in one task. What `load` does may take a while."""
        with anyio.move_on_after(QUIET_SECONDS):
            await self._needed.wait()
        if self._over.is_set():
            return
        application = await to_thread.run_sync(load)
        async with application() as self._app:
            # What is loaded by now stays; to look at all of it again and again would cost runs a fifth of their time.
            gc.freeze()
            self._opened.set()
            await self._over.wait()

    def end(self) -> None:
        """Close it, or let it never be opened."""
        self._over.set()
        self._needed.set()


@asynccontextmanager
async def opened_when_needed(load: Callable[[], Application], *, at_once: bool) -> AsyncGenerator[Opening]:
    """Let the application that `load` gives be opened when it is first needed, or a moment after the start.

    With `at_once` it is open when this is entered: whatever may be wrong with it is said before the first answer.
    """
    opening = Opening()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(opening.keep, load)
        if at_once:
            await opening.app()
        yield opening
        opening.end()
