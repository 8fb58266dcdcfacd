"""Sources that do not start, hang, die, print garbage or do not import: told clearly, and nothing else suffers."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.plans import node, plan
from tests.stories.workplace import Server, Workplace

pytestmark = pytest.mark.anyio

FAULTY = str(Path(__file__).with_name("faulty_upstream.py"))


def faulty(fault: str) -> dict[str, Any]:
    """Configure an upstream with this fault."""
    return {"command": sys.executable, "args": [FAULTY, fault]}


async def std_still_works(server: Server) -> None:
    """Run what needs no other source."""
    done = await server.run(await server.deploy(plan("plain", say=node("wf.std.constant", result="value", value=1))))
    assert (done["status"], done["output"]) == ("completed", {"result": 1})


@pytest.mark.parametrize(
    "upstream",
    [{"command": "no-such-program"}, faulty("exits"), {"url": "http://127.0.0.1:9/mcp"}],
    ids=["command missing", "exits at once", "nobody listens"],
)
async def test_an_upstream_that_does_not_start_makes_its_deployments_unrunnable(
    workplace: Workplace, upstream: dict[str, Any]
) -> None:
    workplace.configure(mcpServers={"far": upstream})
    flow = plan("fetch", fetch=node("far.echo", text="x"))
    async with workplace.server() as server:
        await server.call("save_artifact", artifact_id="fetch", plan=flow)
        deployment = await server.call("create_deployment", deployment_id="fetch", artifact_id="fetch")
        assert not deployment["runnable"]
        assert "source_unavailable" in [diagnostic["code"] for diagnostic in deployment["diagnostics"]]
        refused = await server.run("fetch")
        assert (refused["status"], refused["run_id"]) == ("unrunnable", None)
        assert (await server.call("list_runs"))["runs"] == []
        error = await server.refuse("call_capability", name="far.echo", input={"text": "x"})
        assert error["code"] == "source_unavailable"
        await std_still_works(server)


async def test_a_disabled_upstream_says_so(workplace: Workplace) -> None:
    workplace.configure(mcpServers={"far": {**faulty("none"), "enabled": False}})
    async with workplace.server() as server:
        error = await server.refuse("call_capability", name="far.echo", input={"text": "x"})
    assert error["code"] == "source_disabled"


async def test_a_missing_variable_disables_its_source_only(workplace: Workplace) -> None:
    workplace.configure(mcpServers={"far": {**faulty("none"), "env": {"TOKEN": "${NO_SUCH_VARIABLE}"}}})
    async with workplace.server() as server:
        error = await server.refuse("call_capability", name="far.echo", input={"text": "x"})
        assert "NO_SUCH_VARIABLE" in f"{error['message']} {error['hint']}"
        await std_still_works(server)


async def test_an_upstream_that_dies_in_a_call_fails_the_run_and_is_started_again(workplace: Workplace) -> None:
    """Whether a call that was cut off did its work is unknown, and the run says so."""
    workplace.configure(mcpServers={"far": faulty("none")})
    async with workplace.server() as server:
        await server.deploy(plan("die", die=node("far.die")))
        await server.deploy(plan("echo", echo=node("far.echo", result="result", text="again")))
        dead = await server.run("die")
        assert dead["status"] == "failed"
        assert (dead["error"]["code"], dead["error"]["side_effects"]) == ("connection_lost", "unknown")
        done = await server.run("echo")
    assert (done["status"], done["output"]) == ("completed", {"result": "again"})


async def test_a_direct_call_that_fails_says_how(workplace: Workplace) -> None:
    workplace.write(
        "ops.py", "from wf_core import capability\n\n@capability()\ndef odd() -> float:\n    return float('nan')\n"
    )
    workplace.configure(pythonSources={"ops": {"module": "ops", "path": "."}}, mcpServers={"far": faulty("none")})
    failures: dict[str, tuple[str, dict[str, Any]]] = {
        "invalid_input": ("wf.std.length", {"value": 5}),
        "capability_error": ("wf.std.fail", {"message": "on purpose"}),
        "out_of_stock": ("wf.std.fail", {"message": "on purpose", "code": "out_of_stock"}),
        "output_invalid": ("ops.odd", {}),
        "connection_lost": ("far.die", {}),
    }
    async with workplace.server() as server:
        for code, (name, given) in failures.items():
            assert (await server.refuse("call_capability", name=name, input=given))["code"] == code


async def test_a_run_whose_upstream_hangs_can_be_cancelled(workplace: Workplace) -> None:
    workplace.configure(mcpServers={"far": faulty("none")})
    async with workplace.server() as server:
        await server.deploy(plan("hang", hang=node("far.hang")))
        running = await server.call("run_deployment", deployment_id="hang", wait_seconds=0)
        assert running["status"] == "running"
        await std_still_works(server)
        cancelled = await server.call("cancel_run", run_id=running["run_id"], reason="it hangs")
        assert cancelled["status"] == "cancelled"


async def test_an_upstream_that_never_answers_holds_nobody_else_up(workplace: Workplace) -> None:
    workplace.configure(mcpServers={"far": faulty("silent")})
    async with workplace.server() as server, anyio.create_task_group() as waiting:
        waiting.start_soon(server.client.call_tool, "inspect_capability", {"name": "far.echo"})
        await std_still_works(server)
        waiting.cancel_scope.cancel()


async def test_a_secret_that_an_upstream_gives_away_is_neither_shown_nor_stored(workplace: Workplace) -> None:
    secret = "sesame-4711"
    workplace.environment = {"SECRET": secret}
    workplace.configure(mcpServers={"far": {**faulty("none"), "env": {"TOKEN": "${SECRET}"}}})
    async with workplace.server() as server:
        told = await server.run(await server.deploy(plan("tell", tell=node("far.tell_token", result="result"))))
        trace = await server.call("read_run_trace", run_id=told["run_id"])
    assert told["output"] == {"result": "the token is [redacted]"}
    assert secret not in f"{told} {trace} {workplace.log}"
    assert not [name for name, data in workplace.stored().items() if secret.encode() in data]


async def test_garbage_on_stdout_is_ignored(workplace: Workplace) -> None:
    """Servers print banners; what is no message is none of the client's business."""
    workplace.configure(mcpServers={"far": faulty("garbage")})
    async with workplace.server() as server:
        await server.deploy(plan("echo", echo=node("far.echo", result="result", text="heard")))
        await server.deploy(plan("babble", babble=node("far.babble", result="result")))
        heard = await server.run("echo")
        assert (heard["status"], heard["output"]) == ("completed", {"result": "heard"})
        babbled = await server.run("babble")
        assert (babbled["status"], babbled["output"]) == ("completed", {"result": "done"})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("import wf_core\n\n1 / 0\n", "ops.py, line 3"),
        ("def broken(:\n", "ops.py, line 1"),
        ("from wf_core import no_such_name\n", "ops.py, line 1"),
        ("raise SystemExit(1)\n", "ops.py, line 1"),
    ],
    ids=["raises", "does not parse", "misses a name", "exits"],
)
async def test_a_module_that_does_not_import_names_file_and_line(workplace: Workplace, text: str, fault: str) -> None:
    workplace.python_source("ops", text)
    async with workplace.server() as server:
        error = await server.refuse("call_capability", name="ops.greet", input={})
        listed = await server.call("list_capabilities")
        await std_still_works(server)
    assert error["code"] == "source_unavailable"
    assert fault in error["message"]
    assert [row for row in listed["diagnostics"] if fault in row["message"]]


async def test_a_missing_module_is_named(workplace: Workplace) -> None:
    workplace.configure(pythonSources={"ops": {"module": "no_such_module", "path": "."}})
    async with workplace.server() as server:
        error = await server.refuse("call_capability", name="ops.greet", input={})
        await std_still_works(server)
    assert error["code"] == "source_unavailable"
    assert "no_such_module" in error["message"]


async def test_what_a_module_prints_does_not_reach_the_client(workplace: Workplace) -> None:
    """`stdout` belongs to MCP alone, whatever user code prints."""
    workplace.python_source(
        "ops",
        "from wf_core import capability\n\nprint('loading')\n\n"
        "@capability()\ndef greet() -> str:\n    print('greeting')\n    return 'hi'\n",
    )
    async with workplace.server() as server:
        done = await server.call("call_capability", name="ops.greet", input={})
    assert done["output"] == {"result": "hi"}
