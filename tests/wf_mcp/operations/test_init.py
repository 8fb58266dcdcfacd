"""The operations as one package, loaded piece by piece."""

import subprocess
import sys

import pytest

from wf_mcp import operations

LOADED = """
import sys
from wf_mcp import operations
before = "wf_mcp.operations.checks" in sys.modules
operations.runs.run_deployment
print(before, "wf_mcp.operations.checks" in sys.modules)
"""


def test_an_operation_is_loaded_when_it_is_first_used() -> None:
    told = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]


def test_every_name_is_one_of_a_module() -> None:
    assert [getattr(operations, name).__name__ for name in operations.__all__] == [
        f"wf_mcp.operations.{name}" for name in operations.__all__
    ]
    with pytest.raises(AttributeError, match="'nothing'"):
        operations.nothing  # noqa: B018
