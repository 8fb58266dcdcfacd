"""The MCP server: tools, resources, prompts and completion over `wf_mcp.operations`."""
