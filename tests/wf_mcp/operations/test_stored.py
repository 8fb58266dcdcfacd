"""Whoever hears that something went wrong with what is stored is not to begin it again."""

import pytest

from wf_artifacts.errors import RunNotFound, StoreFull, StoreUnavailable
from wf_mcp.execution.owned import ShuttingDown
from wf_mcp.operations.stored import naming_stored


@pytest.mark.parametrize("error", [StoreFull("the run", "no space left"), ShuttingDown()])
def test_an_error_that_comes_after_it_was_stored_names_it(error: StoreUnavailable | ShuttingDown) -> None:
    with pytest.raises(type(error)) as told, naming_stored("session", "ses_1"):
        raise error
    assert told.value.details["session_id"] == "ses_1"
    assert "do not begin it again" in str(told.value)


def test_any_other_error_says_what_it_said() -> None:
    with pytest.raises(RunNotFound) as told, naming_stored("run", "run_1"):
        raise RunNotFound("run_1")
    assert "again" not in str(told.value)
