"""The process that runs the workflow of the demo: it tells each step as it happens, one JSON object a line on stdout.

    python -m wf_mcp.cli.demo.worker HOME CONFIG start DEPLOYMENT INPUT
    python -m wf_mcp.cli.demo.worker HOME CONFIG resume RUN ANSWER

Once the run has stopped at a question it waits, until somebody kills it.
"""

import sys
from pathlib import Path
from typing import Any

import anyio

from wf_core import jsonvalue
from wf_mcp.app import App
from wf_mcp.operations import runs, traces
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import RunSummary

PAGE = 100


class Teller:
    """Tells the trace entries of a run that have not been told yet."""

    def __init__(self, wf: App, run_id: str, told: int) -> None:
        self._wf = wf
        self._run_id = run_id
        self._told = told

    async def __call__(self, _steps_executed: int = 0, _message: str = "") -> None:
        """Tell what is new; what progress says of it is in the trace, too."""
        page = await traces.read_run_trace(
            self._wf, run_id=self._run_id, start=self._told, limit=PAGE, caller=LOCAL_PERSON
        )
        for entry in page.entries:
            _say({"entry": entry.model_dump(mode="json")})
        self._told += len(page.entries)


async def work(home: Path, config: Path, verb: str, name: str, given: Any) -> None:
    """Carry out what the command line says, and wait when the run asks something."""
    async with App.open(home=home, config=config) as wf:
        run = await carry_out(wf, verb, name, given)
        if run.status == "interrupted":
            await anyio.sleep_forever()


async def carry_out(wf: App, verb: str, name: str, given: Any) -> RunSummary:
    """Start or resume a run, and tell its steps and where it stopped."""
    if verb == "start":
        told = 0
        run = await runs.run_deployment(
            wf, deployment_id=name, workflow_input=given, wait_seconds=0, caller=LOCAL_PERSON
        )
    else:
        told = (await runs.inspect_run(wf, run_id=name, caller=LOCAL_PERSON)).trace_count
        run = await runs.resume_run(wf, run_id=name, wait_seconds=0, caller=LOCAL_PERSON, **given)
    if run.run_id is not None:
        run = await _follow(wf, run.run_id, told)
    _say({"run": run.model_dump(mode="json")})
    return run


async def _follow(wf: App, run_id: str, told: int) -> RunSummary:
    tell = Teller(wf, run_id, told)
    while True:
        run = await runs.inspect_run(wf, run_id=run_id, wait_seconds=45, caller=LOCAL_PERSON, progress=tell)
        await tell()
        if run.status != "running":
            return run


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(jsonvalue.dumps(message).decode("utf-8") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    home, config, verb, name, given = sys.argv[1:]
    anyio.run(work, Path(home), Path(config), verb, name, jsonvalue.loads(given))
