"""Why a model ended its answer, and what it means where the answer is not whole.

Half an answer is none: nobody knows what its words would have come to, and calls in it may lack what was to follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from wf_mcp.llm.protocol import ModelFault

Ending = Literal["stop", "tool_call", "length", "content_filter", "error"]
"""Why a model ended its answer. With `stop` and `tool_call` it is whole."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is said of an answer that is not whole."""

    code: ModelFault
    message: str
    hint: str | None = None
    passing: bool = False
    """Whether the same question may get a whole answer soon."""


CUTS: Final[Mapping[Ending, Cut]] = {
    "length": Cut(
        "model_answer_cut",
        "The model's answer was cut at the limit of its tokens. Nothing of it was taken, and no call in it was made.",
        "Say in a new prompt that the answer is to be shorter, or raise the limit where the model is served; "
        "resuming the session asks again.",
    ),
    "content_filter": Cut(
        "model_refused",
        "The vendor's content filter kept the model's answer back.",
        "Ask in other words, or let another model answer; resuming the session asks the same again.",
    ),
    "error": Cut("model_unavailable", "The model gave up in the middle of its answer.", passing=True),
}
"""By how the answer ended. Any other answer is whole."""
