"""Making, losing and ending the connection to an upstream server."""

import logging
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.sources.upstream.conftest import HttpServer, Open, raw_server
from wf_core import CallContext
from wf_mcp.config import McpServer, Redactor
from wf_mcp.sources.errors import CallFailed, SourceUnavailable
from wf_mcp.sources.upstream import UpstreamSource, connection
from wf_mcp.sources.upstream.connection import Connector

pytestmark = pytest.mark.anyio


async def reason(source: UpstreamSource) -> str:
    with pytest.raises(SourceUnavailable) as unavailable:
        await source.capabilities()
    assert unavailable.value.code == "source_unavailable"
    assert "sesame" not in str(unavailable.value)
    return unavailable.value.message


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (McpServer(command="no-such-command"), "no-such-command was not found"),
        (McpServer(command="/etc/passwd"), "could not be started: Permission denied"),
        (raw_server("exit"), "it ended before it answered. Its last words: no key [redacted] in passwd."),
        (McpServer(url="http://127.0.0.1:1/mcp"), "nothing answers at 127.0.0.1:1"),
        (McpServer(url="http://no-such-host.invalid/mcp?key=sesame-street"), "nothing answers at no-such-host.invalid"),
    ],
)
async def test_why_there_is_no_connection_is_told(server: McpServer, told: str, open_source: Open) -> None:
    async with open_source(server) as source:
        assert told in await reason(source)
        assert source.status().state == "unavailable"
        assert told in source.status().diagnostics[0].message


@pytest.mark.parametrize(
    "value",
    ["sesame-é", "Bearer ключ-sesame", "sesame\nX-More: yes", "sesame\n", " sesame", "\0sesame", "sesame-\udce9"],
)
async def test_a_header_that_cannot_be_sent_is_named_and_not_shown(
    value: str, open_source: Open, context: CallContext, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = McpServer(url="http://127.0.0.1:1/mcp", headers={"X-Team": "blue\tsky", "Authorization": "${KEY}"})
    async with open_source(server, KEY=value) as source:
        told = await reason(source)
        with pytest.raises(CallFailed) as failed:
            await source.call("echo", {"value": 1}, context)
    assert told.startswith('The source up cannot be reached: its header "Authorization" cannot be sent: ')
    assert (failed.value.code, failed.value.executed) == ("source_unavailable", False)
    assert not any(
        shown in text for shown in ("ses", "udce9", "xe9") for text in (told, str(failed.value), caplog.text)
    )


async def test_a_server_that_never_answers_is_given_up_after_the_limit(open_source: Open) -> None:
    async with open_source(raw_server("silent", "noisy"), connect_seconds=0.5) as source:
        told = await reason(source)

    assert "it did not answer within 0.5 seconds, and it writes to stdout what is no MCP (1 lines)" in told


async def test_a_server_that_only_babbles_is_given_up_at_once_and_said_once(
    open_source: Open, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_source(raw_server("babble")) as source:
        told = await reason(source)

    assert "it writes to stdout what is no MCP, without end" in told
    assert len(caplog.records) == 1


async def test_an_endless_listing_is_given_up(open_source: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_PAGES", 3)
    async with open_source(raw_server("twice")) as source:
        assert "lists its tools without end" in await reason(source)


async def test_nothing_is_called_without_a_connection(open_source: Open, context: CallContext) -> None:
    async with open_source(raw_server("exit")) as source:
        with pytest.raises(CallFailed) as failed:
            await source.call("echo", {"value": 1}, context)

    assert (failed.value.code, failed.value.executed) == ("source_unavailable", False)


async def test_each_failure_makes_the_pause_before_the_next_try_longer(
    open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def sleep_until(deadline: float) -> None:
        pauses.append(round(deadline - anyio.current_time(), 1))

    monkeypatch.setattr(anyio, "sleep_until", sleep_until)
    async with open_source(McpServer(command="no-such-command")) as source:
        for _ in range(8):
            await reason(source)

    assert pauses == [0.2, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


async def test_the_era_is_remembered_until_it_fails(
    http_server: HttpServer, redactor: Redactor, tmp_path: Path
) -> None:
    """Finding out takes a legacy server's time with each connection otherwise."""
    async with anyio.create_task_group() as tasks:
        connector = Connector("up", McpServer(url=http_server.url), tmp_path, redactor, tasks, 30)
        http_server.start("--legacy")
        (await connector.connection()).over.set()
        assert connector.era == "legacy"

        http_server.start()
        (await connector.connection()).over.set()
        assert connector.era == "legacy"

        http_server.close()
        with pytest.raises(SourceUnavailable):
            await connector.connection()
        assert connector.era == "auto"


async def test_giving_up_while_connecting_leaves_the_next_try_free(open_source: Open) -> None:
    async with open_source(raw_server("silent")) as source:
        with anyio.move_on_after(0.2) as impatient:
            await source.capabilities()
        assert impatient.cancelled_caught
        with anyio.move_on_after(0.2) as impatient:
            await source.capabilities()
        assert impatient.cancelled_caught


async def test_closing_ends_calls_under_way(open_source: Open, context: CallContext) -> None:
    failures: list[CallFailed] = []

    async def call(source: UpstreamSource) -> None:
        with pytest.raises(CallFailed) as failed:
            await source.call("hang", {}, context)
        failures.append(failed.value)

    async with open_source(raw_server()) as source:
        await source.capabilities()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, source)
            await anyio.wait_all_tasks_blocked()
            await source.close()

    assert [(failure.code, failure.executed) for failure in failures] == [("connection_lost", True)]
