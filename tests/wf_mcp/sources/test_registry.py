"""Every configured source by its name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.scripted import ScriptedSource
from tests.wf_mcp.sources.upstream.conftest import raw_server
from wf_core import CallContext
from wf_mcp.config import Config, McpServer, PythonModule, Redactor
from wf_mcp.sources.errors import CapabilityNotFound, SourceNotFound, SourceUnavailable
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.registry import SourceRegistry

pytestmark = pytest.mark.anyio

OPS = """
import os
from wf_core import capability

@capability(read_only=True)
def token(name: str) -> str:
    return os.environ[name]

@capability(name="deep.token")
def deep() -> int:
    return 1
"""


def config_in(folder: Path, **servers: McpServer) -> Config:
    (folder / "ops.py").write_text(OPS)
    (folder / "broken.py").write_text("import no_such_library")
    python = {name: PythonModule(module=name) for name in ("ops", "broken")}
    off = PythonModule(module="ops", path="${OFF}", enabled=False)
    return Config(mcpServers=servers, pythonSources={**python, "off": off}).at(None, folder)


async def test_capabilities_are_found_by_source_and_name(tmp_path: Path) -> None:
    async with SourceRegistry.open(config_in(tmp_path), Redactor(), environ={}) as registry:
        assert (await registry.capability("ops", "token")).full_name == "ops.token"
        assert (await registry.find("ops.token")).name == "token"
        assert (await registry.find("ops.deep.token")).name == "deep.token"
        assert (await registry.find("wf.std.length")).source == "wf.std"


async def test_what_is_not_there_comes_with_its_neighbours(tmp_path: Path) -> None:
    async with SourceRegistry.open(config_in(tmp_path), Redactor(), environ={}) as registry:
        for name in ("ops.tokens", "op.token", "wf.std.lenght"):
            with pytest.raises(CapabilityNotFound) as missing:
                await registry.find(name)
            assert missing.value.details["close_matches"]
        with pytest.raises(SourceNotFound, match="no source 'opps'"):
            await registry.capability("opps", "token")
        with pytest.raises(SourceNotFound):
            registry.status("opps")
        with pytest.raises(SourceUnavailable):
            await registry.find("broken.anything")


async def test_a_source_that_cannot_be_used_costs_the_others_nothing(tmp_path: Path) -> None:
    config = config_in(tmp_path, gone=McpServer(command="no-such-command"), up=raw_server())
    async with SourceRegistry.open(config, Redactor(), environ={}) as registry:
        offered, diagnostics = await registry.all_capabilities()
        names = [capability.full_name for capability in offered]

        assert {"ops.token", "up.echo", "wf.std.now"} <= set(names)
        assert {(diagnostic.severity, diagnostic.message.split(" ")[2]) for diagnostic in diagnostics} == {
            ("error", "broken"),
            ("error", "gone"),
            ("warning", "off"),
            ("error", "not"),
        }
        only, _ = await registry.all_capabilities("ops")
        assert [capability.name for capability in only] == ["deep.token", "token"]
        states = {name: registry.status(name).state for name in registry.sources()}
        assert states == {
            "wf.std": "ready",
            "ops": "ready",
            "broken": "unavailable",
            "off": "disabled",
            "gone": "unavailable",
            "up": "ready",
        }


async def test_what_sources_take_from_the_environment_is_shown_nowhere(
    tmp_path: Path, context: CallContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of sources that are switched off count too."""
    monkeypatch.setenv("OFF", "value-of-off")
    server = raw_server(env={"TOKEN": "${TOKEN}", "PASSWORD": "written-in-place"})
    redactor = Redactor()
    environ = {"OFF": "value-of-off", "TOKEN": "value-of-token"}
    async with SourceRegistry.open(config_in(tmp_path, up=server), redactor, environ=environ) as registry:
        python = await registry.sources()["ops"].call("token", {"name": "OFF"}, context)
        upstream = await registry.sources()["up"].call("tell", {"what": "env"}, context)

    assert python.output == {"result": "[redacted]"}
    shown = json.dumps(upstream.output)
    assert "'TOKEN': '[redacted]'" in shown
    assert "value-of" not in shown
    assert "written-in-place" not in shown


async def test_at_the_end_every_process_is_gone(tmp_path: Path, context: CallContext) -> None:
    async with SourceRegistry.open(config_in(tmp_path, up=raw_server()), Redactor(), environ={}) as registry:
        told = await registry.sources()["up"].call("tell", {"what": "pid"}, context)
    assert not is_running(told)


async def test_what_the_caller_raises_arrives_as_it_is(tmp_path: Path) -> None:
    async def fail() -> None:
        async with SourceRegistry.open(config_in(tmp_path, up=raw_server()), Redactor(), environ={}) as registry:
            await registry.sources()["up"].capabilities()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await fail()


async def test_a_cancelled_caller_leaves_no_process_behind(tmp_path: Path, context: CallContext) -> None:
    told: list[CallResult] = []

    with anyio.CancelScope() as scope:
        async with SourceRegistry.open(config_in(tmp_path, up=raw_server()), Redactor(), environ={}) as registry:
            told.append(await registry.sources()["up"].call("tell", {"what": "pid"}, context))
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert not is_running(told[0])


def is_running(told: CallResult) -> bool:
    assert isinstance(told.output, dict)
    try:
        os.kill(int(str(told.output["text"])), 0)
    except ProcessLookupError:
        return False
    return True


def test_what_is_slow_to_import_waits_until_it_is_needed() -> None:
    script = "import sys, wf_mcp.sources.registry; print({'mcp', 'jsonschema_rs', 'httpx2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_a_source_that_is_added_is_there_and_stands_in_lists_unless_it_is_not_to() -> None:
    registry = SourceRegistry({"ops": ScriptedSource("ops")})
    registry.add(ScriptedSource("agents"))
    registry.add(ScriptedSource("workflows"), listed=False)
    assert list(registry.sources()) == ["ops", "agents", "workflows"]
    assert registry.listed() == ["ops", "agents"]
    offered, _ = await registry.all_capabilities()
    assert [capability.source for capability in offered] == ["ops", "agents"]
    assert (await registry.find("workflows.echo")).source == "workflows"
    offered, _ = await registry.all_capabilities("workflows")
    assert [capability.source for capability in offered] == ["workflows"]
