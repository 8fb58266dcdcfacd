"""A tool of an upstream server whose own name holds a dot, which MCP allows."""

import sys

import pytest

from tests.stories.plans import ask, node, plan
from tests.stories.workplace import Workplace

pytestmark = pytest.mark.anyio

UPSTREAM = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("dotted")


@server.tool(name="text.upper")
def upper(text: str) -> str:
    return text.upper()


server.run()
"""


async def test_it_is_called_by_its_source_and_its_name_and_a_wrong_split_is_told(workplace: Workplace) -> None:
    script = workplace.write("dotted.py", UPSTREAM)
    workplace.configure(mcpServers={"up": {"command": sys.executable, "args": [str(script)]}})
    upper = node("", result=".", text="quiet")
    async with workplace.server() as server:
        described = await server.call("inspect_capability", name="up.text.upper")
        assert described["name"] == "up.text.upper"

        await server.call(
            "save_artifact", artifact_id="split", plan=plan("split", upper={**upper, "use": "up.text.upper"})
        )
        split = await server.call("create_deployment", deployment_id="split", artifact_id="split")
        assert not split["runnable"]
        assert '{"source": "up", "capability": "text.upper"}' in split["diagnostics"][0]["hint"]

        mistyped = {**upper, "use": {"source": "up", "capability": "text.uper"}}
        report = await server.call("validate_workflow", plan=plan("mistyped", upper=mistyped))
        assert [issue["code"] for issue in report["issues"]] == ["unknown_capability"]

        apart = {**upper, "use": {"source": "up", "capability": "text.upper"}}
        run = await server.run(await server.deploy(plan("apart", ask=ask(to="upper"), upper=apart)))
    async with workplace.server() as server:
        done = await server.call("resume_run", run_id=run["run_id"], resume_payload={"reply": "go"})
    assert done["status"] == "completed", done
    assert done["output"] == {"result": {"result": "QUIET"}}
