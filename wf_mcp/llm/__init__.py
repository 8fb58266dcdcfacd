"""Asking a language model: over the network by any vendor's API, or from a script."""

from wf_mcp.llm.opening import open_model
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed, ModelProvider, ModelRequest

__all__ = ["ModelAnswer", "ModelFailed", "ModelProvider", "ModelRequest", "open_model"]
