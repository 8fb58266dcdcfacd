"""One request to a model over the network, and what its end means.

Importing this module loads pydantic-ai, which takes a while: `models` does it in a thread, when a model is first asked.
"""

import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import httpx2
from anyio import to_thread
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers import Provider, infer_provider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from wf_core.calls.policy import ToolCall
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue, check, loads
from wf_core.sessions.models import Usage
from wf_mcp.llm.endings import CUTS
from wf_mcp.llm.messages import has_files, messages, tools
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed, ModelFault, ModelRequest

OPENAI_URL = "https://api.openai.com/v1"
HTTP_SECONDS = 600.0
"""Between two pieces of an answer. What a whole request may take is said with each."""
CONNECT_SECONDS = 5.0

_OPENAI = ("openai", "openai-chat", "openai-responses")

_ANOTHER_MODEL = "Another model may take it: name one in the agent's file, and start a new session."
_KEY = (
    "Look at the vendor's key in the environment of the server: it is missing or wrong, or it may not use this model."
)
_HINTS: Mapping[int, str] = {
    401: _KEY,
    403: _KEY,
    404: "Look at the model's name in the agent's file, and at its server.",
}
"""By the status of a refusal."""

_OVER_SOON = (ModelRateLimitError, ModelUnavailableError, ModelServerError, ModelConnectionError, ModelRequestTimeout)


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that gave no answer."""

    code: ModelFault
    message: str
    """May hold a key yet: what a vendor says is in it."""
    passing: bool = False
    """Whether it may succeed soon as it is."""
    retry_after_seconds: float | None = None
    """As the vendor asks for."""
    status: int | None = None
    media: bool = False
    """Whether it may be for the files in the conversation that it was refused."""
    hint: str | None = None


@asynccontextmanager
async def opened(name: str, environ: Mapping[str, str]) -> AsyncGenerator[Model]:
    """Open the client of `vendor:model` for as long as the block. Raises as `open_vendor`."""
    # In a thread: what it takes to begin may be read from the disk.
    async with await to_thread.run_sync(_http_client) as client:
        model = await to_thread.run_sync(open_vendor, name, environ, client)
        async with model:
            yield model


def open_vendor(name: str, environ: Mapping[str, str], client: httpx2.AsyncClient | None = None) -> Model:
    """Give the client of `vendor:model`, which speaks through `client` if its vendor can. Nothing is sent yet.

    An OpenAI-compatible server behind OPENAI_BASE_URL is asked by chat completions, which all of them know.

    Raises:
        ModelFailed: `model_unusable`; no such vendor, its package is not installed, or its key is missing.
    """
    vendor, _, model = name.partition(":")
    base_url = environ.get("OPENAI_BASE_URL")
    if vendor == "openai" and base_url:
        name = f"openai-chat:{model}"

    def provider(wanted: str) -> Provider[Any]:
        if wanted not in _OPENAI:
            return infer_provider(wanted)
        key = environ.get("OPENAI_API_KEY")
        if not (key or base_url):
            raise UserError("The environment has no OPENAI_API_KEY.")
        return OpenAIProvider(base_url=base_url or OPENAI_URL, api_key=key or "none", http_client=client)

    try:
        return infer_model(name, provider)
    except ImportError as exc:
        hint = f"Install it: pip install 'pydantic-ai-slim[{vendor}]'"
        raise ModelFailed("model_unusable", f"The package for {vendor!r} is not installed.", hint=hint) from exc
    except (UserError, ValueError) as exc:
        hint = "Write vendor:model, as in openai:gpt-5.1, and give the vendor's key in the environment."
        raise ModelFailed("model_unusable", f"The model {name!r} cannot be used: {exc}", hint=hint) from exc


def _http_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=httpx2.Timeout(HTTP_SECONDS, connect=CONNECT_SECONDS), verify=_certificates())


@cache
def _certificates() -> ssl.SSLContext:
    """Read whom this machine trusts: once, for that takes longer than all the rest of a request."""
    return httpx2.create_ssl_context()


async def ask_once(
    model: Model, request: ModelRequest, settings: ModelSettings, *, media: bool
) -> ModelAnswer | Failure:
    """Send the conversation and read the whole answer. Without `media` a note stands for each file in it."""
    told = messages(request, media=media)
    answer = await _ask(model, told, request, settings)
    if isinstance(answer, Failure) and answer.media and not has_files(told):
        return replace(answer, media=False)
    return answer


async def _ask(
    model: Model, told: list[ModelMessage], request: ModelRequest, settings: ModelSettings
) -> ModelAnswer | Failure:
    parameters = ModelRequestParameters(function_tools=tools(request.tools))
    try:
        async with model_request_stream(
            model, told, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for _ in stream:
                pass
            return _read(stream.get(), says_when_done=isinstance(model, OpenAIChatModel))
    except ModelAPIError as exc:
        return _failed(exc)
    except UnexpectedModelBehavior as exc:
        return Failure("model_answer_invalid", f"The model's answer cannot be read: {exc.message}", passing=True)
    except (UserError, NotImplementedError, ValueError, TypeError, RuntimeError) as exc:
        # Before anything is sent: the client of this vendor does not take such a conversation.
        return Failure("model_refused", f"The model cannot be asked this: {exc}", media=True, hint=_ANOTHER_MODEL)


def _read(response: ModelResponse, *, says_when_done: bool) -> ModelAnswer | Failure:
    text = _whole("".join(part.content for part in response.parts if isinstance(part, TextPart)))
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    said = (response.provider_details or {}).get("finish_reason")
    if response.finish_reason is None and said:
        return Failure(
            "model_answer_invalid", f"The model ended its answer for an unknown reason: {said}.", passing=True
        )
    if response.finish_reason is None or (says_when_done and not (said or response.usage.output_tokens)):
        # Where a connection carries no length, one that is cut looks like one that ended.
        return Failure("model_unavailable", "The model's answer ended before it was complete.", passing=True)
    if (cut := CUTS.get(response.finish_reason)) is not None:
        return Failure(cut.code, cut.message, cut.passing, hint=cut.hint)
    if not text.strip() and not calls:
        return Failure("model_answer_invalid", "The model's answer is empty.", passing=True)
    written = [[call.name, call.provider_call_id, call.arguments] for call in calls]
    try:
        # Of arguments that can be read, the kernel tells the model what is wrong with them.
        check({"text": text, "calls": [[one for one in call if isinstance(one, str)] for call in written]}, "answer")
    except NotJson as exc:
        return Failure("model_answer_invalid", f"The model's answer cannot be stored. {exc.message}", passing=True)
    usage = Usage(response.usage.input_tokens, response.usage.output_tokens)
    return ModelAnswer(text, calls, usage)


def _whole(text: str) -> str:
    """Join the halves of characters that came apart: servers may cut their words anywhere."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _call(part: ToolCallPart) -> ToolCall:
    return ToolCall(part.tool_name, _arguments(part.args), provider_call_id=part.tool_call_id)


def _arguments(written: str | dict[str, Any] | None) -> JsonValue:
    """Give the arguments as JSON; text that is none stays text, and the kernel tells the model so."""
    if isinstance(written, dict):
        return written
    if not written:
        return {}
    written = _whole(written)
    try:
        return loads(written, "arguments")
    except NotJson:
        return written


def _failed(exc: ModelAPIError) -> Failure:
    status = exc.status_code if isinstance(exc, ModelHTTPError) else None
    message = f"The model {exc.model_name} {_said(exc, status)}"
    if isinstance(exc, ModelQuotaExceededError):
        return Failure("model_refused", message, status=status, hint="The account has no quota left at its vendor.")
    if isinstance(exc, _OVER_SOON) or (status is not None and (status >= 500 or status in (408, 409, 425, 429))):
        return Failure("model_unavailable", message, True, exc.retry_after, status)
    if isinstance(exc, ModelRequestRejectedError) or status is not None:
        hint = _HINTS.get(status or 0, _ANOTHER_MODEL)
        return Failure("model_refused", message, status=status, media=status in (400, 413, 415, 422), hint=hint)
    return Failure("model_unavailable", message, True, exc.retry_after)


def _said(exc: ModelAPIError, status: int | None) -> str:
    if status is not None:
        return f"answered with status {status}: {_words(exc.body if isinstance(exc, ModelHTTPError) else None, exc)}"
    if isinstance(exc, ModelRequestTimeout):
        return "has not answered in time."
    return f"could not be reached or did not finish: {exc.message}"


def _words(body: object, exc: ModelAPIError) -> str:
    """Give what a vendor says of a refusal, out of whatever it wraps its words in."""
    match body:
        case {"error": {"message": str(said)}} | {"message": str(said)} | {"error": str(said)} | {"detail": str(said)}:
            return said
        case None:
            return exc.message
        case _:
            return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
