"""Which provider answers for a model's name."""

from collections.abc import Mapping
from pathlib import Path

from wf_mcp.config import Redactor
from wf_mcp.llm.models import VendorModel
from wf_mcp.llm.protocol import ModelFailed, ModelProvider
from wf_mcp.llm.scripted import ScriptedModel

SCRIPTED = "scripted:"


def open_model(name: str, *, folder: Path, environ: Mapping[str, str], redactor: Redactor) -> ModelProvider:
    """Give who answers for a model: `scripted:FILE`, relative to `folder`, or `vendor:model` of the extra `llm`.

    Opening one is cheap: nothing is read, imported or connected before it is asked. The keys in `environ` are told to
    `redactor`.

    Raises:
        ModelFailed: `model_unusable`; the name is none of both.
    """
    vendor, colon, model = name.partition(":")
    if not (vendor and colon and model):
        raise ModelFailed(
            "model_unusable",
            f"{name!r} names no model.",
            hint="Write vendor:model, as in openai:gpt-5.1, or scripted:FILE.",
        )
    if name.startswith(SCRIPTED):
        return ScriptedModel(folder / model)
    return VendorModel(name, environ=environ, redactor=redactor)
