"""Fixtures of the command line's tests."""

from tests.wf_mcp.cli.terminal import terminal

__all__ = ["terminal"]
