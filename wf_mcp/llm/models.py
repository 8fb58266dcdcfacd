"""Models over the network: any vendor that pydantic-ai knows, asked patiently.

A model request changes nothing outside, so what fails for a while is tried again: too many requests, as long after as
the vendor asks, servers in trouble, connections that are cut.
"""

import importlib
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from wf_mcp.config import Redactor
from wf_mcp.config.redaction import redacted_logs
from wf_mcp.errors import abridge
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed, ModelRequest

if TYPE_CHECKING:
    from wf_mcp.llm.vendors import Failure

SECRET_VARIABLE = re.compile(r"(API_KEY|ACCESS_KEY|_TOKEN|_SECRET|PASSWORD)$")
"""Names of variables whose values vendors take as keys."""
SHORTEST_KEY = 8
"""Characters. Servers on this machine take any key: `none` or `dummy` is no secret."""

_USER_IN_URL = re.compile(r"^[a-z]+://([^/@]+)@", re.IGNORECASE)

_TALKATIVE_LOGGERS = (
    "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy", "httpcore2.socks", "httpx2",
    "openai", "openai._base_client", "openai._legacy_response", "openai._response",
)  # fmt: skip
"""They log requests, headers and URLs."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model is waited for."""

    attempts: int = 4
    """Requests at most for one question."""
    first_delay_seconds: float = 1.0
    """Before the second request; doubles each time, where the vendor asks for nothing else."""
    longest_delay_seconds: float = 60.0
    """A vendor that asks for more than this is not waited for."""
    first_word_seconds: float = 300.0
    """Until the answer begins."""
    answer_seconds: float = 1800.0
    """Until it ends."""


class VendorModel:
    """A model by the name `vendor:model`."""

    def __init__(
        self,
        name: str,
        *,
        environ: Mapping[str, str],
        redactor: Redactor,
        patience: Patience | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._name = name
        self._environ = environ
        self._redactor = redactor
        self._patience = patience or Patience()
        self._sleep = sleep
        self._chance = chance
        for secret in secrets_of(environ):
            redactor.add(secret)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        vendors = await to_thread.run_sync(_load_vendors)
        with redacted_logs(self._redactor, _TALKATIVE_LOGGERS):
            try:
                async with vendors.opened(self._name, self._environ) as model:
                    return await self._ask(vendors, model, request)
            except ModelFailed as exc:
                raise self._shown(exc) from None

    async def _ask(self, vendors: ModuleType, model: Any, request: ModelRequest) -> ModelAnswer:
        patience = self._patience
        settings = {
            "max_retries": 0,
            "first_event_timeout": patience.first_word_seconds,
            "request_timeout": patience.answer_seconds,
        }
        attempt, media = 1, True
        while True:
            answer: ModelAnswer | Failure = await vendors.ask_once(model, request, settings, media=media)
            if isinstance(answer, ModelAnswer):
                return self._without_keys(answer)
            if answer.media:
                media = False
                continue
            wait = self._wait(answer, attempt)
            if wait is None:
                raise self._failed(answer, attempt)
            await self._sleep(wait)
            attempt += 1

    def _without_keys(self, answer: ModelAnswer) -> ModelAnswer:
        """Keep keys out of what is stored: a server may say anything."""
        calls = (replace(call, arguments=self._redactor.json(call.arguments)) for call in answer.tool_calls)
        return replace(answer, text=self._redactor.text(answer.text), tool_calls=tuple(calls))

    def _wait(self, failure: "Failure", attempt: int) -> float | None:
        """Give the seconds until the next attempt. None when there is none."""
        patience = self._patience
        if not failure.passing or attempt >= patience.attempts:
            return None
        if failure.retry_after_seconds is not None:
            asked = failure.retry_after_seconds
            return asked if asked <= patience.longest_delay_seconds else None
        full = patience.first_delay_seconds * 2 ** (attempt - 1)
        # Many sessions that failed at once do not come back at once.
        return min(full, patience.longest_delay_seconds) * (1 - self._chance() / 2)

    def _failed(self, failure: "Failure", attempts: int) -> ModelFailed:
        details: dict[str, Any] = {"model": self._name, "attempts": attempts}
        if failure.status is not None:
            details["status"] = failure.status
        if failure.retry_after_seconds is not None:
            details["retry_after_seconds"] = failure.retry_after_seconds
        hint = failure.hint or ("Resume the session later: the model is then asked again." if failure.passing else None)
        return self._shown(
            ModelFailed(failure.code, failure.message, retryable=failure.passing, hint=hint, details=details)
        )

    def _shown(self, error: ModelFailed) -> ModelFailed:
        """Keep keys and long pages out of an error: vendors repeat what they were sent."""
        return ModelFailed(
            error.code,  # type: ignore[arg-type]
            abridge(self._redactor.text(error.message)),
            retryable=error.retryable,
            hint=error.hint,
            details=error.details,
        )


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Give the values of an environment that vendors take as keys."""
    found = [value for name, value in environ.items() if SECRET_VARIABLE.search(name)]
    urls = (value for name, value in environ.items() if name.endswith("_BASE_URL"))
    for url in urls:
        if user := _USER_IN_URL.match(url):
            found += [user[1], *user[1].split(":", 1)[1:]]
    return [value for value in found if len(value) >= SHORTEST_KEY]


def _load_vendors() -> ModuleType:
    """Load pydantic-ai: it takes a second, which nobody else shall wait for.

    Raises:
        ModelFailed: it is not installed.
    """
    try:
        return importlib.import_module("wf_mcp.llm.vendors")
    except ImportError as exc:
        raise ModelFailed(
            "model_unusable",
            "Asking a model needs the extra `llm`, which is not installed.",
            hint="Install it: pip install 'wf-mcp[llm]', or use a scripted model: scripted:FILE.",
        ) from exc
