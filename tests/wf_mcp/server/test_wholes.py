"""Where the rest of an answer is."""

from typing import get_args, get_type_hints

import pytest

from wf_mcp.server.tool import WorkflowTool
from wf_mcp.server.tools import tools_of
from wf_mcp.server.toolsets import TOOLSETS
from wf_mcp.server.wholes import where


@pytest.mark.parametrize("tool", tools_of(TOOLSETS), ids=lambda tool: tool.name)
def test_it_is_said_of_each_answer_that_may_be_long(tool: WorkflowTool) -> None:
    returned = get_type_hints(tool.fn)["return"]
    for model in get_args(returned) or [returned]:
        body = dict.fromkeys(model.model_fields, "x")
        told = where(model.__name__, body, set())
        assert ("does the same" in told) == model.__name__.startswith("Deleted")


def test_of_what_was_not_started_there_is_no_id() -> None:
    body = {"run_id": None, "deployment_id": "d"}
    assert where("RunSummary", body, {"interrupts"}) == "`wf deployments show d --json` gives everything."


def test_what_waits_is_listed_where_a_list_of_it_is_not_whole() -> None:
    body = {"session_id": "ses_1"}
    assert where("SessionDetail", body, {"pending_calls"}).startswith('list_pending(session_id="ses_1") lists')
    assert where("SessionDetail", body, {"conversation"}) == "`wf session show ses_1 --json` gives everything."
