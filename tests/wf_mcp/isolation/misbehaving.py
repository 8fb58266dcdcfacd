"""A worker that does what no worker should, as its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time


def answer(content: object = "done", token: str | None = None) -> None:
    """Print a proper envelope."""
    found = token if token is not None else json.loads(sys.stdin.buffer.read())["token"]
    print(json.dumps({"token": found, "status": "success", "result": {"type": "json", "content": content}}), flush=True)


def stay(*, own_session: bool) -> None:
    """Start a child that ignores what can be ignored, and has a child of its own."""
    code = (
        "import os, signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
        "os.fork(); print('up', flush=True); time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=own_session, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert [child.stdout.readline(), child.stdout.readline()] == [b"up\n"] * 2


def main() -> None:  # noqa: C901  # one way each
    match sys.argv[1]:
        case "loud stderr":
            sys.stderr.write("x" * 1_000_000 + "\n" + "last words\n")
            answer()
        case "never answers":
            stay(own_session=False)
            stay(own_session=True)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        case "leaves children":
            stay(own_session=False)
            stay(own_session=True)
            answer()
        case "noise":
            print("Loading…")
            answer()
        case "two envelopes":
            answer("one")
            answer("two", "other")
        case "wrong token":
            answer(token="call_other")
        case "nothing":
            sys.stdin.read()
        case "exit 3":
            answer()
            sys.exit(3)
        case "50 MB":
            answer("x" * 50_000_000)
        case "invalid JSON":
            print('{"token": "call_0123456789ABCDEFGHJKMNPQRS", "status": ')
        case "closes stdin":
            os.close(0)
            answer(token="call_0123456789ABCDEFGHJKMNPQRS")
        case "never reads":
            answer(token="call_0123456789ABCDEFGHJKMNPQRS")
        case "kills itself":
            sys.stderr.write("about to\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        case "environment":
            answer({"env": dict(os.environ), "cwd": os.getcwd(), "files": os.listdir()})  # noqa: PTH109, PTH208
        case "memory":
            answer(len(bytearray(300_000_000)))
        case "processor":
            while True:
                pass
        case "file":
            with open("big", "wb") as file:  # noqa: PTH123
                file.write(bytes(2_000_000))
            answer()
        case "waits for a reader":
            with open(os.environ["FIFO"], "w", encoding="utf-8") as fifo:  # noqa: PTH123
                fifo.write("up\n")
                fifo.flush()
                stay(own_session=True)
                time.sleep(600)
        case how:
            raise AssertionError(how)


main()
