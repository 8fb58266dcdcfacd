"""Isolated calls by a function behind HTTP: the envelope is posted, the answer is the worker's envelope."""

from typing import NoReturn

import anyio
import httpx2

from wf_core.calls.results import ToolResult
from wf_mcp.config.runners import Runner
from wf_mcp.isolation.answers import read_envelope
from wf_mcp.isolation.errors import IsolationError, timed_out, too_large, unavailable
from wf_mcp.isolation.place import Place
from wf_mcp.sources.boundary import presentable

CONNECT_SECONDS = 30.0
LONGEST_EXPLANATION = 2000
"""Bytes of what comes with an error status that are shown."""

_REFUSALS = frozenset(range(400, 500)) - {408}
"""Statuses of a request that was not acted on. Any other leaves that open."""

_BEFORE_SENDING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


async def execute(settings: Runner, place: Place, request: bytes, token: str, *, timeout_seconds: float) -> ToolResult:
    """Carry one call out, as `DeploymentRunner.execute` promises."""
    answer: bytes | None = None
    with anyio.move_on_after(timeout_seconds):
        answer = await _post(settings, place, request)
    if answer is None:
        raise timed_out(timeout_seconds)
    return read_envelope(answer, token, place.redactor)


async def _post(settings: Runner, place: Place, request: bytes) -> bytes:
    assert settings.url is not None  # noqa: S101  # as `runner_for` sees to
    # Not compressed: what unpacks to more than is taken is to be noticed before it is unpacked.
    ours = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
    headers = {**settings.headers, **ours}
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None, write=None)
    try:
        async with (
            httpx2.AsyncClient(timeout=timeout, follow_redirects=False) as client,
            client.stream("POST", settings.url, content=request, headers=headers) as response,
        ):
            if not response.is_success:
                await _refuse(response, place)
            return await _read(response, settings.max_output_bytes)
    except (httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeEncodeError):
        # The texts of these errors hold the address or the header, which may be secret.
        raise unavailable(
            "The address or a header of the agent's runner cannot be sent.", "Look at url and headers."
        ) from None
    except _BEFORE_SENDING:
        raise unavailable(
            f"Nothing answers at {_authority(settings.url)}.",
            "Look at url in the agent's runner, and start the function.",
        ) from None
    except httpx2.HTTPError as exc:
        raise IsolationError(
            "isolation_failed",
            f"The connection to {_authority(settings.url)} broke ({type(exc).__name__}).",
            executed=True,
            hint="Find out from the function itself what became of the call.",
        ) from None


async def _read(response: httpx2.Response, max_bytes: int) -> bytes:
    answer = bytearray()
    async for piece in response.aiter_raw():
        answer += piece
        if len(answer) > max_bytes:
            raise too_large(max_bytes)
    return bytes(answer)


async def _refuse(response: httpx2.Response, place: Place) -> NoReturn:
    """Raise what a status that is no success means."""
    status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
    message = f"{_authority(str(response.url))} answered {status}"
    executed = response.status_code not in _REFUSALS
    if response.has_redirect_location:
        message += ", and redirects are not followed"
        hint = "Write the address that it redirects to as url, if it is to be trusted with the call."
    else:
        said = presentable((await _begin(response)).decode("utf-8", "replace"), place.redactor)
        message += f", saying: {said}" if said else ""
        hint = "A function answers 200, also when the call failed; it then says so in its envelope."
    details = {"http_status": response.status_code}
    raise IsolationError("isolation_failed", f"{message}.", executed=executed, hint=hint, details=details)


async def _begin(response: httpx2.Response) -> bytes:
    begin = bytearray()
    async for piece in response.aiter_raw():
        begin += piece
        if len(begin) >= LONGEST_EXPLANATION:
            break
    return bytes(begin[:LONGEST_EXPLANATION])


def _authority(url: str) -> str:
    """Name a server without what may be secret: no user, path or query."""
    try:
        return httpx2.URL(url).netloc.decode("ascii")
    except (httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeEncodeError):
        return "the function"
