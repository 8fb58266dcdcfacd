"""A worker that does what no worker should, as its first argument says: the name of a function here."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TOKEN = "call_0123456789ABCDEFGHJKMNPQRS"


def write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def answer(content: object = "done", token: str | None = None) -> None:
    """Print a proper envelope, for the token that was given to it if none is named."""
    found = token or json.loads(sys.stdin.buffer.read())["token"]
    write(json.dumps({"token": found, "status": "success", "result": {"type": "json", "content": content}}))


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


def loud_stderr() -> None:
    sys.stderr.write("x" * 1_000_000 + "\n" + "last words\n")
    answer()


def never_answers() -> None:
    stay(own_session=False)
    stay(own_session=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def leaves_children() -> None:
    stay(own_session=False)
    stay(own_session=True)
    answer()


def noise() -> None:
    write("Loading…")
    answer()


def two_envelopes() -> None:
    answer("one")
    answer("two", "other")


def wrong_token() -> None:
    answer(token="call_other")


def nothing() -> None:
    sys.stdin.read()


def exit_3() -> None:
    answer()
    sys.exit(3)


def fifty_megabytes() -> None:
    answer("x" * 50_000_000)


def invalid_json() -> None:
    write('{"token": "call_0123456789ABCDEFGHJKMNPQRS", "status": ')


def closes_stdin() -> None:
    os.close(0)
    answer(token=TOKEN)


def never_reads() -> None:
    answer(token=TOKEN)


def kills_itself() -> None:
    sys.stderr.write("about to\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def environment() -> None:
    answer({"env": dict(os.environ), "cwd": str(Path.cwd()), "files": [path.name for path in Path.cwd().iterdir()]})


def memory() -> None:
    answer(len(bytearray(300_000_000)))


def processor() -> None:
    while True:
        pass


def file() -> None:
    Path("big").write_bytes(bytes(2_000_000))
    answer()


def waits_for_a_reader() -> None:
    with Path(os.environ["FIFO"]).open("w") as fifo:
        fifo.write("up\n")
        fifo.flush()
        stay(own_session=True)
        time.sleep(600)


globals()[sys.argv[1].replace(" ", "_")]()
