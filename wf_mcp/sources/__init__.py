"""Capability sources: what is built in, Python modules, and upstream MCP servers."""
