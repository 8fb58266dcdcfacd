"""Acts: capability sources, operations, the MCP server and the command line. Only this package talks to the outside."""
