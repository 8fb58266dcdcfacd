"""An upstream MCP server that misbehaves in the way that its first argument names."""

import os
import sys
import time

from mcp.server.mcpserver import MCPServer

server = MCPServer("faulty")


@server.tool()
def echo(text: str) -> str:
    """Answer with the text."""
    return text


@server.tool()
def tell_token() -> str:
    """Give away what this process was trusted with."""
    return f"the token is {os.environ['TOKEN']}"


@server.tool()
def die() -> str:
    """End the process in the middle of this call."""
    os._exit(3)


@server.tool()
def hang() -> str:
    """Answer too late for anyone."""
    time.sleep(600)
    return "too late"


@server.tool()
def babble() -> str:
    """Print what is no MCP message, then answer."""
    sys.stdout.write("this is no message\n{broken\n")
    sys.stdout.flush()
    return "done"


if __name__ == "__main__":
    match sys.argv[1]:
        case "exits":
            sys.exit("no license found")
        case "silent":
            time.sleep(600)
        case "garbage":
            sys.stdout.write("Welcome!\n{not json\n" * 100)
            sys.stdout.flush()
            server.run()
        case _:
            server.run()
