"""Arguments that every surface checks alike: nothing out of range is clamped, nothing is done before all is checked."""

import math
from typing import cast

from wf_core import jsonvalue
from wf_core.errors import NotJson, WfError
from wf_core.jsonvalue import JsonValue
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.execution.callees.family import caller_of

MOST_WAIT_SECONDS = 45
MOST_ROWS = 100
LONGEST_KEY = 256


def check_wait(seconds: float) -> None:
    """Refuse a waiting time that clients would cut off.

    Raises:
        InvalidArgument: it is not from 0 to 45.
    """
    if not (math.isfinite(seconds) and 0 <= seconds <= MOST_WAIT_SECONDS):
        raise InvalidArgument(
            f"`wait_seconds` is from 0 to {MOST_WAIT_SECONDS}, not {seconds}.",
            hint="The run goes on without anybody waiting; ask again with inspect_run.",
        )


def check_limit(limit: int) -> None:
    """Refuse a page size out of range.

    Raises:
        InvalidArgument: it is not from 1 to 100.
    """
    if not 1 <= limit <= MOST_ROWS:
        raise InvalidArgument(f"`limit` is from 1 to {MOST_ROWS}, not {limit}.", hint="Ask for more pages.")


def check_key(idempotency_key: str | None) -> None:
    """Refuse a key that says nothing, or too much, or that names a call: the run would answer for what it called.

    Raises:
        InvalidArgument: it is blank or longer than 256 characters, or begins with the id of a run or a session.
    """
    if caller_of(idempotency_key) is not None:
        raise InvalidArgument(
            "`idempotency_key` begins with the id of a run or a session: such keys belong to the calls of that.",
            hint="Choose another key.",
        )
    if idempotency_key is not None and not (idempotency_key.strip() and len(idempotency_key) <= LONGEST_KEY):
        raise InvalidArgument(
            f"`idempotency_key` has from 1 to {LONGEST_KEY} characters, not all blank.",
            hint="Leave it out to start a run that no other call gives again.",
        )


def storable(app: App, name: str, value: object, refusal: type[WfError] = InvalidArgument) -> JsonValue:
    """Give a value from outside as it may be stored: strict JSON, within bounds, without secrets.

    Raises:
        WfError: a `refusal`: it is not JSON; names the place.
        TooLarge: it is longer than the configured bound.
    """
    try:
        jsonvalue.check(value, name)
    except NotJson as error:
        raise refusal(error.message, hint=error.hint, details=error.details) from error
    checked = cast("JsonValue", value)
    size = jsonvalue.size(checked)
    if size > app.config.max_bytes:
        raise TooLarge(f"`{name}`", size=size, limit=app.config.max_bytes)
    return app.redactor.json(checked)
