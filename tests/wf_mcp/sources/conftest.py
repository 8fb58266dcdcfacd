"""What the tests of sources share."""

import pytest

from wf_core import CallContext
from wf_mcp.config import Redactor


@pytest.fixture
def context() -> CallContext:
    return CallContext(run_id="run_1", step_id="step", path=("step",), attempt=2, idempotency_key="run_1:call_1")


@pytest.fixture
def redactor() -> Redactor:
    """Knows one secret, `sesame-street`."""
    redactor = Redactor()
    redactor.add("sesame-street")
    return redactor
