"""The command line `wf`: the operator's view of the same home that the MCP server uses."""
