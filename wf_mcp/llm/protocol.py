"""What asking a model is to the rest of the program, and what can go wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from wf_core.calls.policy import ToolCall
from wf_core.errors import WfError
from wf_core.sessions.models import Session, ToolDefinition, Turn, Usage

ModelFault = Literal["model_unavailable", "model_refused", "model_answer_cut", "model_answer_invalid", "model_unusable"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A question to a model: the whole conversation up to its last user turn. Building it copies nothing."""

    session: Session
    system_prompt: str
    tools: tuple[ToolDefinition, ...]

    @classmethod
    def of(cls, session: Session) -> Self:
        """Ask with what the session's agent is pinned to."""
        return cls(session, session.agent.system_prompt, session.agent.tools)

    @property
    def turns(self) -> list[Turn]:
        """The oldest first; the last is a user turn. The session's own: only to be read."""
        return self.session.turns


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said. Its calls are as it wrote them: there may be no such tool, or no object of arguments."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)


class ModelProvider(Protocol):
    """Somebody who answers for a model."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Give the model's answer to the last user turn. Nothing outside changes by it, so it may be asked again.

        What fails for a while is tried again before it is told. Cancelling the caller gives the request up.

        Raises:
            ModelFailed: there is no answer. Its texts hold no key.
        """
        ...


class ModelFailed(WfError):
    """There is no answer from a model. The session can be resumed: it then asks again."""

    code: str = "model_unavailable"

    def __init__(
        self,
        code: ModelFault,
        message: str,
        *,
        retryable: bool = False,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details={**(details or {}), "retryable": retryable})
        self.code = code
        """`model_unavailable`: it could not be reached or did not finish. `model_refused`: it takes no such request.
        `model_answer_cut`: its answer reached the limit of its tokens. `model_answer_invalid`: what it said cannot be
        read. `model_unusable`: it cannot be asked as it is set up."""
        self.retryable = retryable
        """Whether the same request may succeed later as it is."""
