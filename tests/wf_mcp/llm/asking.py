"""A session to ask with, and a model behind a fake server."""

from tests.wf_mcp.llm.openai_server import FakeServer
from wf_core.calls.policy import ToolCall
from wf_core.calls.results import ToolResult
from wf_core.sessions.models import (
    AgentSnapshot,
    LlmTurn,
    PlacedResult,
    Session,
    ToolDefinition,
    Turn,
    UserTurn,
)
from wf_mcp.config import Redactor
from wf_mcp.llm.models import Patience, VendorModel
from wf_mcp.llm.protocol import ModelRequest

KEY = "sk-live-7fd0c1e2a4"

WORD_COUNT = ToolDefinition(
    name="word_count", capability="ops.word_count", source="ops", description="Count the words of a text.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    output_schema={}, outcomes=("ok",), digest="d", read_only=True, idempotent=True,
)  # fmt: skip
AGENT = AgentSnapshot("helper", "Helps.", "Be brief.", "openai:fake", tools=(WORD_COUNT,))


def asking(*turns: Turn) -> ModelRequest:
    """Ask with a conversation; with nothing said, with one question."""
    session = Session("s1", "seed", AGENT, list(turns) or [UserTurn("t0", "How many words?")])
    return ModelRequest.of(session)


def called(*calls: tuple[str, str, object], text: str = "") -> LlmTurn:
    """Be the model's turn with calls `(id, name, arguments)`."""
    made = (ToolCall(name, arguments, call_id) for call_id, name, arguments in calls)  # type: ignore[arg-type]
    return LlmTurn("t1", text, tuple(made))


def placed(call_id: str, name: str, result: ToolResult, *, held: bool = False) -> PlacedResult:
    """Be a result in turn t2 of the call `c<number>`."""
    return PlacedResult(f"t2.{call_id[1:]}", call_id, name, result, held)


class Waits(list[float]):
    """A sleep that notes how long it was asked for, and takes no time."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def model(
    server: FakeServer,
    *,
    patience: Patience | None = None,
    waits: Waits | None = None,
    redactor: Redactor | None = None,
) -> VendorModel:
    """Be the model behind a server. Nothing is left to chance."""
    return VendorModel(
        "openai:fake",
        environ={"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY},
        redactor=redactor or Redactor(),
        patience=patience,
        sleep=waits if waits is not None else Waits(),
        chance=lambda: 0.0,
    )
