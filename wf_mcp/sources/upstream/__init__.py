"""Upstream MCP servers as sources, over stdio and Streamable HTTP."""

from wf_mcp.sources.upstream.source import UpstreamSource

__all__ = ["UpstreamSource"]
