"""No value that a source takes from the environment is stored, logged or told, whatever a run does with it."""

import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.stories.plans import ask, node, plan
from wf_core.errors import WfError
from wf_mcp.app import App
from wf_mcp.errors import describe
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.runs import inspect_run, resume_run, run_deployment
from wf_mcp.operations.sources import call_capability, list_capabilities
from wf_mcp.operations.traces import read_run_trace

OPS = """
import json, logging
from pathlib import Path
from wf_core import Outcome, capability

SECRETS = json.loads(Path(__file__).with_name("secrets.json").read_text())

@capability(name="leak")
async def leak(how: str, key: str = SECRETS[0]) -> dict:
    match how:
        case "give":
            return {"result": {"of": SECRETS, **{secret: [secret] for secret in SECRETS}}}
        case "raise":
            raise type(SECRETS[0], (Exception,), {})(f"no {SECRETS}")
        case "outcome":
            return Outcome(SECRETS[0], {})
        case "nan":
            return {SECRETS[0]: {SECRETS[1]: float("nan")}}
leak.__doc__ = f"Needs {SECRETS}."
"""

lines = st.text('a"\\/% é😀\t', min_size=1, max_size=9).map(lambda text: f"zQ7{text}zQ7")
"""Not to be found anywhere by chance."""
values = st.lists(lines, min_size=1, max_size=3).map("\n".join) | lines.map(lambda line: f"{line}\n")


@settings(
    max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(values, values, lines)
def test_no_secret_of_a_source_is_stored_logged_or_told(
    caplog: pytest.LogCaptureFixture, variable: str, token: str, header: str
) -> None:
    caplog.set_level(logging.INFO)
    caplog.clear()
    with TemporaryDirectory() as folder:
        told = anyio.run(everything_that_is_told, Path(folder), variable, token, header)
        stored = [path.read_bytes() for path in (Path(folder) / "home").rglob("*") if path.is_file()]
    assert stored
    assert any('"status":"completed"' in text for text in told)

    for place in (*stored, *map(str.encode, (caplog.text, *told))):
        for line in (*variable.splitlines(), *token.splitlines(), header):
            for spelled in (line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]):
                assert spelled.encode() not in place


async def everything_that_is_told(folder: Path, variable: str, token: str, header: str) -> list[str]:
    """Run what fails, succeeds and stops over a home in the folder; give all that was told of it."""
    secrets = [variable, token, header]
    (folder / "secrets.json").write_text(json.dumps(secrets))
    (folder / "ops.py").write_text(OPS)
    servers = {
        "off": {"command": "x", "env": {"VARIABLE": "${VARIABLE}"}, "enabled": False},
        "broken": {"command": "sh", "args": ["-c", 'echo "no $KEY" >&2'], "env": {"KEY": "${TOKEN}"}},
        "web": {"url": "http://127.0.0.1:9/", "headers": {"Authorization": header}, "enabled": False},
    }
    config = {"mcpServers": servers, "pythonSources": {"ops": {"module": "ops"}}}
    (folder / "wf.json").write_text(json.dumps(config))
    environ = {"VARIABLE": variable, "TOKEN": token}
    told = list[str]()
    async with App.open(folder / "home", cwd=folder, environ=environ) as app:
        for how in ("give", "raise", "outcome", "nan"):
            flow = plan(how, do=node("ops.leak", to="ask", result="result", how=how, key=variable), ask=ask())
            told += await run_of(app, how, flow, secrets)
            try:
                called = await call_capability(app, name="ops.leak", input={"how": how})
                told.append(repr(called))
            except WfError as error:
                told.append(shown(app, error))
        told.append((await list_capabilities(app)).model_dump_json())
        told += [repr(app.registry.status(source)) for source in app.registry.sources()]
    return told


async def run_of(app: App, name: str, flow: dict[str, Any], secrets: list[str]) -> list[str]:
    await save_artifact(app, artifact_id=name, plan=flow, description=f"with {secrets}")
    await create_deployment(app, deployment_id=name, artifact_id=name)
    run = await run_deployment(app, deployment_id=name, workflow_input={secret: secret for secret in secrets})
    assert run.run_id is not None
    told = [run.model_dump_json()]
    if run.status == "interrupted":
        try:
            await resume_run(app, run_id=run.run_id, resume_payload={"reply": secrets})
        except WfError as error:
            told.append(shown(app, error))
        payload = {"reply": " ".join(secrets)}
        told.append((await resume_run(app, run_id=run.run_id, resume_payload=payload)).model_dump_json())
    told.append((await inspect_run(app, run_id=run.run_id)).model_dump_json())
    told.append((await read_run_trace(app, run_id=run.run_id)).model_dump_json())
    return told


def shown(app: App, error: WfError) -> str:
    """Give an error as a client is shown it."""
    return json.dumps(describe(error, app.redactor.json))
