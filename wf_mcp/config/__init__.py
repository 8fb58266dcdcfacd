"""What the operator says in wf.json, and the secrets that it takes from the environment."""

from wf_mcp.config.load import InvalidConfig, load_config
from wf_mcp.config.models import Config, HintOverride, McpServer, PythonModule
from wf_mcp.config.redaction import Redactor

__all__ = ["Config", "HintOverride", "InvalidConfig", "McpServer", "PythonModule", "Redactor", "load_config"]
