"""Python modules as sources: one capability per decorated function, its contract from the type hints."""

from wf_mcp.sources.python.source import PythonSource

__all__ = ["PythonSource"]
