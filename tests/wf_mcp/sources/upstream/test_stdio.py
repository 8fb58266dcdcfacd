"""The process of an upstream server."""

import sys
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.sources.upstream.conftest import Open, raw_server
from wf_core import CallContext
from wf_mcp.config import McpServer, Redactor
from wf_mcp.sources.upstream.stdio import Process, stdio_transport

pytestmark = pytest.mark.anyio


async def test_the_process_sees_its_own_variables_and_of_ours_only_the_harmless(
    open_source: Open, context: CallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_TOKEN", "ours-1234")
    async with open_source(raw_server(env={"TOKEN": "${GIVEN}"}), GIVEN="given-1234") as source:
        told = str((await source.call("tell", {"what": "env"}, context)).output)

    assert "'TOKEN': 'given-1234'" in told
    assert "'PATH'" in told
    assert "OUR_TOKEN" not in told


async def test_the_process_runs_below_the_folder_of_the_configuration(
    open_source: Open, context: CallContext, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    for cwd, folder in ((None, tmp_path), ("below", tmp_path / "below")):
        async with open_source(raw_server(cwd=cwd)) as source:
            told = await source.call("tell", {"what": "cwd"}, context)
        assert told.output == {"content": [{"type": "text", "text": str(folder)}], "text": str(folder)}


async def test_stderr_goes_to_the_log_without_secrets(
    redactor: Redactor, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("INFO")
    process = Process("up", redactor)
    script = "echo one sesame-street >&2; echo two >&2; echo no protocol"

    async with stdio_transport(McpServer(command="sh", args=["-c", script]), tmp_path, process) as (reading, _):
        with anyio.fail_after(5):
            assert [message async for message in reading] == []
            await process.over.wait()

    assert await process.last_words() == "two"
    assert process.noise == 1
    assert [message for message in caplog.messages if message.startswith("up: ")] == ["up: one [redacted]", "up: two"]
    assert capfd.readouterr().out == ""


async def test_a_line_is_not_cut_in_the_middle_of_a_secret(
    redactor: Redactor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    process = Process("up", redactor)
    script = "import sys; sys.stderr.write('x' * 8185 + 'sesame-street' + 'y' * 9000 + '\\nnext\\n')"
    server = McpServer(command=sys.executable, args=["-c", script])

    async with stdio_transport(server, tmp_path, process):
        with anyio.fail_after(5):
            await process.over.wait()

    assert await process.last_words() == "next"
    assert "sesa" not in caplog.text
    assert f"{'x' * 8000}" in caplog.text


async def test_what_holds_stderr_open_is_not_waited_for(redactor: Redactor, tmp_path: Path) -> None:
    process = Process("up", redactor)
    server = McpServer(command="sh", args=["-c", "echo gone >&2; sleep 3 >&- <&- & exit"])

    async with stdio_transport(server, tmp_path, process):
        with anyio.fail_after(2):
            await process.over.wait()
            assert await process.last_words() == "gone"
