"""What goes wrong once a run or a session is stored: whoever hears of it is not to begin it again."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, TypeVar

from wf_artifacts.errors import StoreUnavailable
from wf_core.errors import WfError
from wf_mcp.execution.owned import ShuttingDown

Kind = Literal["run", "session"]
E = TypeVar("E", bound=WfError)


@contextmanager
def naming_stored(kind: Kind, name: str) -> Generator[None]:
    """Let an error that comes after a run or a session was stored name it, and say that it goes on by itself.

    Raises:
        StoreUnavailable, ShuttingDown: with the id in the details.
    """
    try:
        yield
    except (StoreUnavailable, ShuttingDown) as error:
        name_stored(error, kind, name)
        raise


def name_stored(error: E, kind: Kind, name: str) -> E:
    """Let an error name what is stored, and say that it goes on by itself; give the error."""
    error.details[f"{kind}_id"] = name
    error.hint = (
        f"The {kind} {name} is stored and goes on by itself once it can: look at it with inspect_{kind} then, and "
        "do not begin it again."
    )
    return error
