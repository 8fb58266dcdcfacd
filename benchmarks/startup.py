"""How long the server takes from its start to the answer to its first request, beside the smallest server of the SDK.

    python benchmarks/startup.py            a table, then one line of JSON
    python benchmarks/startup.py --check    the same; exit status 1, naming what fell short
    python benchmarks/startup.py --full     more rounds

Both are started in turn, and each pair is compared, so that a machine that is busy for a while slows down both.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from report import Figure, finish

ROUNDS = 9

THREE_LINES = """
from mcp.server import MCPServer
server = MCPServer("three-lines")
server.run()
"""

FIRST_REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def seconds_to_first_answer(command: list[str], folder: Path) -> float:
    """Start a server, send it the first request of a client, and measure until the answer is there."""
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(FIRST_REQUEST).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        took = time.perf_counter() - began
        assert "serverInfo" in answer["result"], answer
        server.stdin.close()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the start of the server.")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound is not kept")
    parser.add_argument("--full", action="store_true", help="more rounds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        commands = {
            "three-line MCPServer": [sys.executable, "-c", THREE_LINES],
            "wf-mcp": [sys.executable, "-m", "wf_mcp", "--home", str(place / "home")],
        }
        for command in commands.values():
            seconds_to_first_answer(command, place)  # once for the caches of the interpreter and the disk
        times = {name: list[float]() for name in commands}
        for _ in range(3 * ROUNDS if options.full else ROUNDS):
            for name, command in commands.items():
                times[name].append(seconds_to_first_answer(command, place))
    ratio = median(own / other for other, own in zip(*times.values(), strict=True))
    for name, measured in times.items():
        print(f"{name:22}{median(measured):>8.3f} s, the fastest {min(measured):.3f} s")
    figures = [Figure("the server's time to the first answer, to that of three lines", ratio, 1.4, at_least=False)]
    seconds = {name: round(median(measured), 4) for name, measured in times.items()}
    return finish("startup", figures, {"median_seconds": seconds}, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
