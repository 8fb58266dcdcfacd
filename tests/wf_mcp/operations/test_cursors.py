"""Cursors of filtered lists."""

import pytest

from wf_artifacts.errors import InvalidCursor
from wf_mcp.operations.cursors import bind, release


def test_a_cursor_leads_on_in_the_list_that_gave_it_out() -> None:
    assert release(bind("abc.def", "runs", None), "runs", None) == "abc.def"


def test_the_end_of_a_list_has_no_cursor_and_its_beginning_needs_none() -> None:
    assert bind(None, "runs") is None
    assert release(None, "runs") is None


@pytest.mark.parametrize("foreign", ["", "abc", "no such cursor!", "...", bind("abc", "runs", "failed")])
def test_a_cursor_of_another_list_or_other_filters_is_refused(foreign: str) -> None:
    with pytest.raises(InvalidCursor):
        release(foreign, "runs", "completed")
