"""What every claim is, whatever it is on and wherever it is kept: held until it is released, by a block at its end."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Releasable(ABC):
    """A right that is given back at the end of the block that took it."""

    @abstractmethod
    async def release(self) -> None:
        """Give it back. Works in a cancelled task too; releasing again does nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.release()
