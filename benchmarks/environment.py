"""The environment that the peers live in, apart from ours, and how a peer is asked for its time."""

import json
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / ".cache" / "peers"
PACKAGES = HERE / "peer_packages.txt"


def peer_python() -> Path:
    """Give the interpreter that has the peers, made if it is not there."""
    python, wanted = ENVIRONMENT / "bin" / "python", PACKAGES.read_text()
    made_of = ENVIRONMENT / "made_of.txt"
    if not made_of.is_file() or made_of.read_text() != wanted:
        print("installing the peers", file=sys.stderr)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", PACKAGES], check=True)
        made_of.write_text(wanted)
    return python


def ask(python: Path, program: str, *arguments: str) -> float:
    """Run a peer in a process of its own; give the seconds that its work took."""
    finished = subprocess.run([python, HERE / program, *arguments], check=True, capture_output=True, text=True)
    return float(json.loads(finished.stdout.splitlines()[-1]))
