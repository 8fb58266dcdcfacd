r"""A model that plays its answers from a JSON file: demonstrations, tests, and work without a network.

    {"answers": [{"text": "One moment.", "toolCalls": [{"name": "word_count", "arguments": {"text": "{{query}}"}}]},
                 {"text": "Done:\n{{results}}"}]}

The session itself says which answer comes next, so it goes on in any process. `{{query}}` is what the user said last,
`{{results}}` what the last calls gave, a line `- name: text` each. What these hold is not looked into again.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from pydantic import ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from wf_core.calls.policy import ToolCall
from wf_core.calls.results import ToolResult, as_text
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue, loads
from wf_core.sessions import LlmTurn, Turn, Usage, UserTurn, check_history
from wf_mcp.config.files import read_bounded
from wf_mcp.config.models import ConfigRecord
from wf_mcp.config.problems import problems
from wf_mcp.llm.endings import CUTS, Ending
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed, ModelRequest

CHECKED_ANSWERS = 100
"""Up to so many answers the history is checked each time, and later after each so many."""

_PLACEHOLDER = re.compile(r"\{\{(query|results)\}\}")


class _Record(ConfigRecord):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class ScriptedCall(_Record):
    name: str
    arguments: Any = Field(default_factory=dict[str, Any])
    """Normally an object; anything else is passed on as a model that errs would."""
    id: str = ""


class ScriptedUsage(_Record):
    input_tokens: int = 0
    output_tokens: int = 0


class ScriptedAnswer(_Record):
    text: str = ""
    tool_calls: list[ScriptedCall] = []
    usage: ScriptedUsage = ScriptedUsage()
    delay_milliseconds: int = Field(default=0, ge=0)
    """How long the model thinks."""
    finish_reason: Ending = "stop"
    """Why the answer ends. One that is not whole is none, as of a real model."""


class Script(_Record):
    answers: list[ScriptedAnswer]


class ScriptedModel:
    """The model `scripted:FILE`. The file is looked at each time it is asked, and read again where it changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[tuple[int, int, int], Script] | None = None

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Give the next answer of the script.

        Raises:
            ModelFailed: `model_unusable`; the script cannot be read or has no more answers; or the answer is not whole.
            BrokenHistory: a real model would refuse what it is asked with.
        """
        turns = request.turns
        number = sum(isinstance(turn, LlmTurn) for turn in turns)
        # It reads every turn: of a long session only now and then, so that a turn does not cost more with each.
        if number <= CHECKED_ANSWERS or number % CHECKED_ANSWERS == 0:
            check_history(turns)
        script = await to_thread.run_sync(self._load)
        if number >= len(script.answers):
            raise ModelFailed(
                "model_unusable",
                f"The script {self._file.name} has {len(script.answers)} answers, and is asked for one more.",
                hint="Add it to the script, then resume the session.",
            )
        answer = script.answers[number]
        await anyio.sleep(answer.delay_milliseconds / 1000)
        if (cut := CUTS.get(answer.finish_reason)) is not None:
            raise ModelFailed(cut.code, cut.message, retryable=cut.passing, hint=cut.hint)
        words = {"query": _query(turns), "results": _results(turns)}
        return ModelAnswer(
            _fill(answer.text, words),
            tuple(ToolCall(call.name, _fill_all(call.arguments, words), call.id) for call in answer.tool_calls),
            Usage(answer.usage.input_tokens, answer.usage.output_tokens),
        )

    def _load(self) -> Script:
        try:
            status = self._file.stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._read is None or self._read[0] != state:
                self._read = state, _read(read_bounded(self._file), self._file.name)
            return self._read[1]
        except OSError as exc:
            raise ModelFailed(
                "model_unusable",
                f"The script {self._file.name} cannot be read: {exc.strerror}.",
                hint="A scripted model is named scripted:FILE, relative to the folder of the agent file.",
            ) from exc


def _read(data: bytes, name: str) -> Script:
    try:
        return Script.model_validate(loads(data, name))
    except NotJson as exc:
        message = f"The script {name} is no JSON: {exc.reason}."
        raise ModelFailed("model_unusable", message, hint="docs/agents.md shows one.") from exc
    except ValidationError as exc:
        faults = "; ".join(
            problems(exc, lambda _: ("answers", "text", "toolCalls", "usage", "delayMilliseconds", "finishReason"))
        )
        raise ModelFailed("model_unusable", f"The script {name}: {faults}.", hint="docs/agents.md shows one.") from None


def _query(turns: Sequence[Turn]) -> str:
    said = (turn.query for turn in reversed(turns) if isinstance(turn, UserTurn) and turn.query is not None)
    return next(said, "")


def _results(turns: Sequence[Turn]) -> str:
    """Say what the last user turn that has any results or notices holds of them."""
    for turn in reversed(turns):
        if isinstance(turn, UserTurn) and (turn.results or turn.notices):
            told: list[tuple[str, ToolResult]] = [(each.name, each.result) for each in (*turn.results, *turn.notices)]
            return "\n".join(f"- {name}: {as_text(result)}" for name, result in told)
    return ""


def _fill(text: str, words: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: words[found[1]], text)


def _fill_all(value: JsonValue, words: dict[str, str]) -> JsonValue:
    match value:
        case str():
            return _fill(value, words)
        case list():
            return [_fill_all(item, words) for item in value]
        case dict():
            return {key: _fill_all(item, words) for key, item in value.items()}
        case _:
            return value
