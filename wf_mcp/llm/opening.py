"""Which provider answers for a model's name."""

from collections.abc import Mapping
from pathlib import Path

from wf_artifacts.clock import Clock
from wf_mcp.config import Redactor
from wf_mcp.llm.protocol import ModelProvider


def open_model(
    name: str, *, folder: Path, environ: Mapping[str, str], redactor: Redactor, clock: Clock
) -> ModelProvider:
    """Give who answers for a model: `scripted:FILE`, relative to `folder`, or `vendor:model` of the extra `llm`.

    Opening one is cheap: nothing is read, imported or connected before it is asked.

    Raises:
        ModelFailed: `model_unusable`; the name is none of both.
    """
    raise NotImplementedError
