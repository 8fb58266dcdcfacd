"""Who wants to hear that a run has changed in the store. What to say of it, and to whom, is theirs."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

Listener = Callable[[str], None]
"""Told the id of a run. Must return at once."""


class Changes:
    """Passes on which runs this process has stored."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def tell(self, run_id: str) -> None:
        """Tell every listener that a run was stored."""
        for listener in self._listeners:
            listener(run_id)

    @contextmanager
    def heard_by(self, listener: Listener) -> Generator[None]:
        """Let `listener` hear of every change while the block lasts."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
