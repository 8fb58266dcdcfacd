"""An upstream MCP server as a source."""

from pathlib import Path

import pytest

from tests.wf_mcp.sources.upstream.conftest import Open, raw_server
from wf_core import CallContext
from wf_mcp.config import McpServer
from wf_mcp.sources.errors import CallFailed, SourceUnavailable

pytestmark = pytest.mark.anyio


async def test_what_a_server_offers_is_unknown_before_the_first_use(open_source: Open) -> None:
    async with open_source(raw_server()) as source:
        assert (source.status().state, source.status().capability_count) == ("idle", None)

        await source.capabilities()

        assert (source.status().state, source.status().capability_count) == ("ready", 10)


async def test_a_server_that_is_switched_off_is_never_started(
    open_source: Open, context: CallContext, tmp_path: Path
) -> None:
    marker = tmp_path / "started"
    async with open_source(McpServer(command="touch", args=[str(marker)], enabled=False)) as source:
        with pytest.raises(SourceUnavailable) as refused:
            await source.capabilities()
        with pytest.raises(CallFailed) as failed:
            await source.call("echo", {}, context)

        assert refused.value.code == failed.value.code == "source_disabled"
        assert not failed.value.executed
        assert source.status().state == "disabled"
    assert not marker.exists()


async def test_a_missing_variable_disables_the_server_and_is_named(open_source: Open) -> None:
    async with open_source(raw_server(env={"TOKEN": "${NO_SUCH_TOKEN}"})) as source:
        with pytest.raises(SourceUnavailable, match="NO_SUCH_TOKEN"):
            await source.capabilities()

        assert source.status().state == "unavailable"
        assert "NO_SUCH_TOKEN" in source.status().diagnostics[0].message
