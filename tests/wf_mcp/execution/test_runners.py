"""Who carries out the isolated calls of runs."""

from typing import Any

import pytest

from wf_core.calls.policy import IsolationSpec
from wf_mcp.config import Config, PythonModule, Redactor
from wf_mcp.execution.runners import deployment_runners

CONFIG = Config(pythonSources={"ops": PythonModule(module="ops")})


@pytest.mark.parametrize(
    ("source", "spec", "found"),
    [
        ("ops", {}, True),
        ("files", {}, False),
        ("ops", {"sandbox": "process"}, True),
        ("files", {"sandbox": "process"}, False),
        ("files", {"sandbox": "process", "options": {"command": ["./worker.sh"]}}, True),
        ("files", {"sandbox": "container"}, True),
        ("files", {"image": "local/worker:1"}, True),
        ("files", {"options": {"url": "http://127.0.0.1:1/"}}, True),
        ("files", {"options": {"command": ["./worker.sh"]}}, True),
        ("files", {"options": {"memory": "1m"}}, False),
    ],
)
def test_a_call_has_a_runner_where_its_spec_or_its_source_says_where(
    source: str, spec: dict[str, Any], found: bool
) -> None:
    runner_of = deployment_runners(CONFIG, Redactor(), environ={})
    assert (runner_of(IsolationSpec(**spec), source) is not None) == found
