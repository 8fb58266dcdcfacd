"""What goes wrong once a run or a session is stored: whoever hears of it is not to begin it again."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from wf_artifacts.errors import StoreUnavailable
from wf_mcp.execution.owned import ShuttingDown

Kind = Literal["run", "session"]


@contextmanager
def is_stored(kind: Kind, name: str) -> Generator[None]:
    """Let an error that comes after a run or a session was stored name it, and say that it goes on by itself.

    Raises:
        StoreUnavailable, ShuttingDown: with the id in the details.
    """
    try:
        yield
    except (StoreUnavailable, ShuttingDown) as error:
        error.details[f"{kind}_id"] = name
        error.hint = (
            f"The {kind} {name} is stored and goes on by itself once it can: look at it with inspect_{kind} then, and "
            "do not begin it again."
        )
        raise
