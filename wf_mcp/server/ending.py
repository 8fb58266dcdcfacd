"""How the program ends when it is told to: Ctrl-C, or SIGTERM of whoever started it.

What is open is closed in order, which ends the processes of upstream servers; and that within a bound, whatever user
code or a client that reads no more would make it wait for.
"""

import os
import signal
import threading
from collections.abc import Awaitable, Callable

import anyio

ORDERLY_SECONDS = 10.0
"""An upstream that ignores the end of its stdin, and SIGTERM, takes about five."""


async def until_told(serve: Callable[[], Awaitable[None]], bound: Callable[[int], None]) -> int | None:
    """Serve until that ends by itself, or a signal ends it; give the exit status that the signal stands for.

    `bound` gets that status before anything is closed.
    """
    status: int | None = None
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                nonlocal status
                async for number in signals:
                    status = 128 + number
                    bound(status)
                    tasks.cancel_scope.cancel()
                    return

            tasks.start_soon(listen)
            await serve()
            tasks.cancel_scope.cancel()
    return status


def end_in_time(status: int) -> None:
    """End the process with `status` if it has not ended in time."""
    timer = threading.Timer(ORDERLY_SECONDS, os._exit, (status,))
    timer.daemon = True
    timer.start()
