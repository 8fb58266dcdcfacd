"""Reading both streams of a process at once, and never too much."""

import logging
import sys

import anyio
import pytest

from wf_mcp.config import Redactor
from wf_mcp.isolation.bounded import LONGEST_LINE, LONGEST_LOG, Log, Overflow, exchange


async def run(code: str, request: bytes = b"", *, max_bytes: int = 1000) -> tuple[bytes, Log]:
    log = Log("worker", Redactor())
    async with await anyio.open_process([sys.executable, "-S", "-c", code]) as process:
        try:
            return await exchange(process, request, log, max_bytes=max_bytes), log
        finally:
            if process.returncode is None:
                process.kill()


@pytest.mark.anyio
async def test_a_process_that_fills_every_pipe_does_not_stand_still() -> None:
    """It writes 1 MB to each stream before it reads 1 MB."""
    code = (
        "import sys\nsys.stderr.write('e' * 10**6); sys.stdout.write('o' * 10**6); sys.stdout.flush()\n"
        "sys.stdout.write(str(len(sys.stdin.read())))"
    )
    answer, _ = await run(code, b"x" * 10**6, max_bytes=2 * 10**6)
    assert answer == b"o" * 10**6 + b"1000000"


@pytest.mark.anyio
async def test_exactly_the_bound_is_taken_and_one_byte_more_is_not() -> None:
    answer, _ = await run("print('x' * 999)")
    assert len(answer) == 1000
    with pytest.raises(Overflow):
        await run("print('x' * 1000)")


@pytest.mark.anyio
async def test_endless_output_ends() -> None:
    with pytest.raises(Overflow):
        await run("while True: print('x' * 1000)")


def test_a_log_puts_lines_together_and_remembers_the_last(caplog: pytest.LogCaptureFixture) -> None:
    log = Log("worker", Redactor())
    with caplog.at_level(logging.DEBUG):
        for piece in (b"one\ntw", b"o\n\n", b"thr", b"ee"):
            log.feed(piece)
        log.close()
    assert [record.getMessage() for record in caplog.records] == ["worker: one", "worker: two", "worker: three"]
    assert log.last_line == "three"


def test_a_log_is_bounded_but_its_last_line_is_known(caplog: pytest.LogCaptureFixture) -> None:
    log = Log("worker", Redactor())
    with caplog.at_level(logging.DEBUG):
        for _ in range(1000):
            log.feed(b"x" * 1999 + b"\n")
        log.feed(b"last\n")
    assert LONGEST_LOG <= sum(len(record.getMessage()) for record in caplog.records) <= LONGEST_LOG + 5000
    assert log.last_line == "last"


def test_a_line_that_is_cut_ends_before_what_may_be_a_part_of_a_secret() -> None:
    redactor = Redactor()
    redactor.add("hush-hush-1")
    log = Log("worker", redactor)
    log.feed(b"x" * (LONGEST_LINE - 5) + b"hush-hush-1 and more\n")
    assert "hush" not in log.last_line
    assert log.last_line.endswith("x…")
