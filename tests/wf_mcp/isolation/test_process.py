"""Calls in a process of their own: every way in which a worker can misbehave, and that nothing is left of any."""

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import anyio
import pytest

from tests.wf_mcp.isolation.calls import MARK, Marked, execute
from wf_core.calls.results import JsonContent, TextContent
from wf_mcp.config import Redactor
from wf_mcp.isolation import IsolationError, PythonWorker, open_runner
from wf_mcp.isolation.process import FOLDER_PREFIX

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_folder_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Keep the fresh folders of workers below the test's own."""
    place = tmp_path / "fresh"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return lambda: [path.name for path in place.iterdir()]


@pytest.mark.parametrize("how", ["loud stderr", "leaves children", "closes stdin", "never reads"])
async def test_a_worker_that_answers_in_spite_of_all_is_heard(
    marked: Marked, how: str, no_folder_left: Callable[[], list[str]]
) -> None:
    """H.79: 1 MB on stderr before the answer; children that would hold its streams open for ever; a deaf worker."""
    began = monotonic()
    result = await execute(marked.misbehaving(how), arguments={"text": "x" * 1_000_000}, timeout_seconds=40)
    assert (result.content, result.error) == (JsonContent("done"), False)
    assert monotonic() - began < 30
    assert marked.left() == []
    assert no_folder_left() == []


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("noise", "isolation_output_invalid", "more than its answer"),
        ("two envelopes", "isolation_output_invalid", "more than one answer"),
        ("wrong token", "isolation_output_invalid", "another token"),
        ("nothing", "isolation_output_invalid", "printed nothing"),
        ("invalid json", "isolation_output_invalid", "no answer"),
        ("exit 3", "isolation_failed", "ended with exit status 3 after it had answered"),
        ("kills itself", "isolation_failed", "was ended by SIGKILL, saying: about to"),
        ("fifty megabytes", "isolation_output_too_large", "more than 16000000 bytes"),
    ],
)
async def test_a_worker_that_misbehaves_is_an_error_and_may_have_acted(
    marked: Marked, how: str, code: str, says: str, no_folder_left: Callable[[], list[str]]
) -> None:
    """H.79."""
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(marked.misbehaving(how), timeout_seconds=40)
    assert (caught.value.code, caught.value.executed) == (code, True)
    assert caught.value.hint
    assert marked.left() == []
    assert no_folder_left() == []


async def test_a_worker_that_never_answers_is_ended_with_its_whole_family(marked: Marked) -> None:
    """H.79: grandchildren that ignore SIGTERM, and such that have left the process group, too."""
    with pytest.raises(IsolationError, match="after 2 seconds") as caught:
        await execute(marked.misbehaving("never answers"), timeout_seconds=2)
    assert (caught.value.code, caught.value.executed) == ("isolation_timeout", True)
    assert marked.left() == []


async def test_a_cancelled_call_leaves_no_process(marked: Marked, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    runner = marked.misbehaving("waits for a reader", env={"FIFO": str(fifo)})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(execute, runner)
        with anyio.fail_after(40):
            reading = await anyio.to_thread.run_sync(fifo.open)
            with reading:
                assert await anyio.to_thread.run_sync(reading.readline) == "up\n"
                tasks.cancel_scope.cancel()
    assert marked.left() == []


async def test_a_killed_server_leaves_no_process_and_no_folder(
    marked: Marked, tmp_path: Path, no_folder_left: Callable[[], list[str]]
) -> None:
    """`kill -9` of whoever runs the call: the worker's family ends, and with it the last writer of the fifo."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = (
        "import anyio; from pathlib import Path; from tests.wf_mcp.isolation.calls import Marked, execute\n"
        f"import tempfile; tempfile.tempdir = {tempfile.tempdir!r}\n"
        f"marked = Marked(Path({str(tmp_path)!r}), mark={marked.mark!r})\n"
        f"anyio.run(execute, marked.misbehaving('waits for a reader', env={{'FIFO': {str(fifo)!r}}}))"
    )
    with anyio.fail_after(50):
        server = subprocess.Popen(  # noqa: ASYNC220  # nothing waits for it
            [sys.executable, "-c", program], cwd=Path(__file__).parents[3]
        )
        reading = await anyio.to_thread.run_sync(fifo.open)
        with reading:
            assert await anyio.to_thread.run_sync(reading.readline) == "up\n"
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            assert await anyio.to_thread.run_sync(reading.read) == ""
        # What ends the worker and takes its folder away carries the mark too.
        await anyio.to_thread.run_sync(marked.wait_until_gone)
    assert no_folder_left() == []


@pytest.mark.parametrize(
    ("command", "says"),
    [("./missing", "No such file"), ("./data.txt", "Permission denied"), ("no-such-program-9", "No such file")],
)
async def test_what_cannot_be_started_has_certainly_not_acted(marked: Marked, command: str, says: str) -> None:
    (marked.folder / "data.txt").write_text("no program")
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(marked.open([command]))
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)


async def test_a_folder_that_is_not_there_has_certainly_stopped_the_call(marked: Marked) -> None:
    with pytest.raises(IsolationError, match="could not be started") as caught:
        await execute(marked.misbehaving("nothing", cwd="nowhere"))
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)


async def test_a_relative_program_counts_from_the_folder_of_the_agent(marked: Marked) -> None:
    program = marked.folder / "worker.sh"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -S {Path(__file__).with_name("misbehaving.py")} "never reads"\n'
    )
    program.chmod(0o755)
    assert (await execute(marked.open(["./worker.sh"]))).content == JsonContent("done")


async def test_a_worker_sees_only_what_its_runner_names(marked: Marked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WF_TEST_SECRET", "hush-hush-1")
    monkeypatch.setenv("WF_OTHER_SECRET", "hush-hush-2")
    seen = (await execute(marked.misbehaving("environment", env={"GIVEN": "${WF_TEST_SECRET}"}))).content
    assert isinstance(seen, JsonContent)
    assert isinstance(seen.content, dict)
    env, cwd = seen.content["env"], seen.content["cwd"]
    assert isinstance(env, dict)
    assert {*env} - {"LANG", "LC_ALL", "LC_CTYPE", "TZ"} == {"PATH", "HOME", "TMPDIR", "GIVEN", MARK}
    assert env["GIVEN"] == "[redacted]"
    assert env["HOME"] == env["TMPDIR"] == cwd
    assert FOLDER_PREFIX in str(cwd)
    assert seen.content["files"] == []


@pytest.mark.parametrize(
    ("how", "limits", "says"),
    [
        ("memory", {"memory": "200m"}, "MemoryError"),
        ("processor", {"cpuSeconds": 1}, "SIGKILL|SIGXCPU"),
        ("file", {"fileSize": "1m"}, "SIGXFSZ|File too large"),
    ],
)
async def test_limits_hold(marked: Marked, how: str, limits: dict[str, object], says: str) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(marked.misbehaving(how, **limits), timeout_seconds=40)
    assert caught.value.code == "isolation_failed"


async def test_stderr_is_logged_at_debug_and_without_secrets(marked: Marked, caplog: pytest.LogCaptureFixture) -> None:
    marked.redactor.add("last words")
    with caplog.at_level(logging.DEBUG, "wf_mcp.isolation"):
        await execute(marked.misbehaving("loud stderr"))
    told = [record for record in caplog.records if record.name == "wf_mcp.isolation.bounded"]
    assert [record.levelno for record in told] == [logging.DEBUG] * 2
    assert told[0].getMessage().endswith("x…")
    assert told[1].getMessage().endswith("[redacted]")
    assert max(len(record.getMessage()) for record in told) < 2100


async def test_without_a_command_our_own_worker_serves_the_source_of_the_capability(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from wf_core import capability\n"
        "@capability()\ndef word_count(text: str) -> int:\n    print('loud')\n    return len(text.split())\n"
    )
    workers = {"my.ops": PythonWorker("mine", tmp_path)}
    runner = open_runner(None, folder=tmp_path, redactor=Redactor(), python=workers.get)
    result = await execute(runner, "my.ops.word_count", {"text": "a b c"})
    assert (result.content, result.error) == (JsonContent({"result": 3}), False)
    refused = await execute(runner, "my.ops.word_count", {"words": 1})
    assert refused.error
    assert isinstance(refused.content, TextContent)
    assert refused.content.content.startswith("input_invalid")


async def test_a_call_of_no_python_source_needs_a_command(tmp_path: Path) -> None:
    with pytest.raises(IsolationError, match=r"files\.read is no capability of a Python source") as caught:
        await execute(open_runner(None, folder=tmp_path, redactor=Redactor()), "files.read")
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)
