"""The process that runs the workflow of the demo, from inside."""

import json
from pathlib import Path

import pytest

from tests.wf_mcp.cli.demo.stage import set_up
from wf_mcp.app import App
from wf_mcp.cli.demo.worker import carry_out

pytestmark = pytest.mark.anyio


async def test_each_step_and_the_stop_are_lines_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await set_up(tmp_path)
    async with App.open(home=tmp_path / "home", config=tmp_path / "wf.json") as wf:
        run = await carry_out(wf, "start", "ask", {})
        await carry_out(wf, "resume", str(run.run_id), {"resume_payload": {}})

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["entry"]["index"] if "entry" in line else line["run"]["status"] for line in lines] == [
        0,
        1,
        "interrupted",
        2,
        "completed",
    ]
