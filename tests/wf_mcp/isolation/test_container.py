"""Calls in containers of a real engine: what holds inside, every way to fail, and that no container is left."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import pytest

from tests.wf_mcp.isolation.calls import Marked, execute, processes
from tests.wf_mcp.isolation.engine import IMAGE, Engine
from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import JsonContent, TextContent, ToolResult
from wf_mcp.config import Redactor
from wf_mcp.isolation import IsolationError, open_runner

pytestmark = pytest.mark.anyio


async def shell(engine: Engine, folder: Path, command: str, **settings: Any) -> str:
    """Run a shell command in a container, by the shell worker; give what it printed."""
    result = await execute(engine.open(folder, **settings), "shell", {"command": command})
    assert isinstance(result.content, TextContent)
    return result.content.content


async def test_the_shell_worker_answers_out_of_a_container(engine: Engine, tmp_path: Path) -> None:
    greeting = await execute(engine.open(tmp_path), "greet", {"name": 'Zoë "the\n1st"'})
    assert greeting == ToolResult(TextContent('Hello Zoë "the\n1st"'))
    answer = await execute(engine.open(tmp_path), "sum", {"left": 20, "right": 22})
    assert answer == ToolResult(JsonContent(42))


async def test_nothing_of_the_outside_is_within_reach(engine: Engine, tmp_path: Path) -> None:
    """No network, a root that cannot be written to, no privileges, and nothing of our environment."""
    looks = "ls /sys/class/net; touch /new; echo kept >/tmp/file; cat /tmp/file; id -u; cat /proc/self/status; env"
    seen = await shell(engine, tmp_path, looks, env={"GIVEN": "${WF_TEST_SECRET}", "PATH": "/bin"})
    lines = seen.split("\n")
    assert lines[:4] == ["lo", "touch: /new: Read-only file system", "kept", "65534"]
    assert {"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} <= {*lines}
    assert {"GIVEN=[redacted]", "PATH=/bin"} <= {*lines}
    assert "DOCKER_HOST" not in seen


async def test_memory_is_bounded(engine: Engine, tmp_path: Path) -> None:
    grow = 'x=xxxxxxxxxxxxxxxx; while :; do x="$x$x"; done'
    runner = engine.open(tmp_path, memory="32m", command=["/bin/sh", "-c", grow])
    with pytest.raises(IsolationError, match="exit status 137, perhaps for its memory: it may have 33554432 bytes"):
        await execute(runner, timeout_seconds=40)


async def test_processes_are_bounded(engine: Engine, tmp_path: Path) -> None:
    many = "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i + 1)); done; kill $(jobs -p)"
    assert "can't fork" in await shell(engine, tmp_path, many, pids=16)


async def test_what_is_written_to_tmp_is_bounded(engine: Engine, tmp_path: Path) -> None:
    command = "dd if=/dev/zero of=/tmp/big bs=1M count=4"
    assert "No space left" in await shell(engine, tmp_path, f"{command}; true", tmp="1m")


async def test_a_spec_may_say_otherwise(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_text("mounted")
    spec = IsolationSpec(options={"writable": True, "user": "0:0", "cwd": "/data", "mounts": ["./data:/data:ro"]})
    result = await execute(engine.open(tmp_path), "shell", {"command": "touch /new; id -u; cat file"}, spec=spec)
    assert result == ToolResult(TextContent("0\nmounted"))


async def test_a_spec_names_a_container_where_the_agent_has_no_runner(engine: Engine, tmp_path: Path) -> None:
    runner = open_runner(None, folder=tmp_path, redactor=Redactor(), environ=engine.environ)
    result = await execute(runner, "greet", {"name": "you"}, spec=IsolationSpec("container", IMAGE))
    assert result == ToolResult(TextContent("Hello you"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"image": "wf-missing:1"}, "No such image: wf-missing:1"),
        ({"engine": ["no-docker-here"]}, "no-docker-here cannot be started: No such file"),
        ({"engine": ["docker", "--host", "unix:///nonexistent"]}, "Cannot connect to the Docker daemon"),
        ({"network": "no-such-network"}, "could not be started.*no-such-network"),
        ({"command": ["/bin/missing"]}, "could not be started.*no such file"),
    ],
)
async def test_what_was_never_started_has_certainly_not_acted(
    engine: Engine, tmp_path: Path, settings: Mapping[str, Any], says: str
) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(engine.open(tmp_path, **settings))
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)
    assert caught.value.hint


ENVELOPE = '{"token": "call_0123456789ABCDEFGHJKMNPQRS", "status": "success", "result": "x"}'


@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        ("echo Loading; cat", "isolation_output_invalid", "more than its answer"),
        (f"echo '{ENVELOPE}'; echo '{ENVELOPE}'", "isolation_output_invalid", "more than one answer"),
        (f"echo '{ENVELOPE}' | sed s/call_0/call_1/", "isolation_output_invalid", "another token"),
        ("cat >/dev/null", "isolation_output_invalid", "printed nothing"),
        (f"echo '{ENVELOPE}'; exit 3", "isolation_failed", "exit status 3 after it had answered"),
        ("echo 'Error response from daemon: no' >&2; exit 1", "isolation_failed", "exit status 1"),
        ("yes | head -c 50000000", "isolation_output_too_large", "more than 16000000 bytes"),
        ("echo '{'", "isolation_output_invalid", "no answer"),
    ],
)
async def test_a_worker_that_misbehaves_in_a_container_may_have_acted(
    engine: Engine, tmp_path: Path, script: str, code: str, says: str
) -> None:
    """H.79. What a worker itself says is not taken for the engine's word."""
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(engine.open(tmp_path, command=["/bin/sh", "-c", script]), timeout_seconds=50)
    assert (caught.value.code, caught.value.executed) == (code, True)
    assert engine.containers() == []


async def test_a_loud_worker_is_heard_out_of_a_container(engine: Engine, tmp_path: Path) -> None:
    """H.79: 1 MB on stderr before the answer, and an envelope of 1 MB that nobody reads."""
    script = f"exec <&-; head -c 1000000 /dev/zero >&2; echo '{ENVELOPE}'"
    runner = engine.open(tmp_path, command=["/bin/sh", "-c", script])
    assert await execute(runner, "x", {"text": "x" * 1_000_000}) == ToolResult(TextContent("x"))


async def test_a_container_that_never_answers_is_removed(engine: Engine, tmp_path: Path) -> None:
    """H.79."""
    began = monotonic()
    script = "trap '' TERM INT HUP; sleep 600 & sleep 600"
    with pytest.raises(IsolationError, match="after 2 seconds") as caught:
        await execute(engine.open(tmp_path, command=["/bin/sh", "-c", script]), timeout_seconds=2)
    assert (caught.value.code, caught.value.executed) == ("isolation_timeout", True)
    assert engine.containers() == []
    assert monotonic() - began < 40


async def started(engine: Engine) -> str:
    """Wait until a container runs, and give its name."""
    with anyio.fail_after(30):
        while True:
            for line in await anyio.to_thread.run_sync(engine.containers):
                name, _, status = line.partition(" ")
                if status.startswith("Up"):
                    return name
            await anyio.sleep(0.05)


async def test_a_cancelled_call_leaves_no_container(engine: Engine, tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(execute, engine.open(tmp_path), "wait")
        await started(engine)
        tasks.cancel_scope.cancel()
    assert engine.containers() == []


async def test_a_call_that_is_cancelled_at_once_leaves_no_container(engine: Engine, tmp_path: Path) -> None:
    with anyio.move_on_after(0.05):
        await execute(engine.open(tmp_path), "wait")
    assert engine.containers() == []


async def test_a_killed_server_leaves_no_container(engine: Engine, tmp_path: Path) -> None:
    """`kill -9` of whoever runs the call. What is left of it removes the container."""
    program = (
        "import anyio; from pathlib import Path; from tests.wf_mcp.isolation.calls import execute\n"
        "from tests.wf_mcp.isolation.engine import Engine\n"
        f"engine = Engine(Path({str(engine.socket)!r}), Path({str(engine.log)!r}))\n"
        f"anyio.run(execute, engine.open(Path({str(tmp_path)!r})), 'wait')"
    )
    server = await anyio.open_process([sys.executable, "-c", program], cwd=Path(__file__).parents[3])
    async with server:
        await started(engine)
        server.kill()
    with anyio.fail_after(40):
        await anyio.to_thread.run_sync(engine.wait_until_empty)


async def test_a_killed_client_of_the_engine_leaves_no_container(engine: Engine, tmp_path: Path) -> None:
    marked = Marked(tmp_path)
    runner = open_runner(
        {"image": IMAGE, "env": {"XDG_TEST": "1"}},
        folder=tmp_path,
        redactor=Redactor(),
        environ={**engine.environ, "DOCKER_TEST_MARK": marked.mark},
    )
    errors: list[IsolationError] = []

    async def call() -> None:
        try:
            await execute(runner, "wait")
        except IsolationError as exc:
            errors.append(exc)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await started(engine)
        kill_clients(marked.mark)
    assert [(error.code, error.executed) for error in errors] == [("isolation_failed", True)]
    assert engine.containers() == []


def kill_clients(mark: str) -> None:
    """Kill the `docker start` that carries a mark."""
    clients = [
        process for process, words in processes(f"DOCKER_TEST_MARK={mark}").items() if words[:2] == ["docker", "start"]
    ]
    assert len(clients) == 1
    os.kill(clients[0], signal.SIGKILL)
