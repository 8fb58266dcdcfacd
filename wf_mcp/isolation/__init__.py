"""Isolated calls: a worker outside of this process gets one envelope, answers with one, and leaves nothing behind."""

from wf_mcp.config.runners import InvalidRunner
from wf_mcp.isolation.errors import IsolationError
from wf_mcp.isolation.opening import open_runner
from wf_mcp.isolation.place import PythonWorker, python_workers
from wf_mcp.isolation.protocol import DeploymentRunner

__all__ = ["DeploymentRunner", "InvalidRunner", "IsolationError", "PythonWorker", "open_runner", "python_workers"]
