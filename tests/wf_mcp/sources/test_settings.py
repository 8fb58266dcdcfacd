"""What a source needs before it can start."""

import pytest

from wf_mcp.config import PythonModule
from wf_mcp.sources.errors import SourceUnavailable
from wf_mcp.sources.settings import resolve


def test_the_record_is_filled_from_the_environment() -> None:
    assert resolve("ops", PythonModule(module="ops", path="${DIR}"), {"DIR": "x"}).path == "x"


def test_every_missing_variable_is_named() -> None:
    with pytest.raises(SourceUnavailable, match="needs ONE and TWO from the environment") as refused:
        resolve("ops", PythonModule(module="ops", path="${ONE}${TWO}"), {})
    assert refused.value.code == "source_unavailable"


def test_switched_off_goes_before_missing_variables() -> None:
    with pytest.raises(SourceUnavailable) as refused:
        resolve("ops", PythonModule(module="ops", path="${ONE}", enabled=False), {})
    assert refused.value.code == "source_disabled"
