"""What a failing model says of itself."""

from tests.wf_mcp.llm.asking import AGENT, asking
from wf_mcp.llm.protocol import ModelFailed


def test_a_failure_says_whether_asking_again_may_help() -> None:
    error = ModelFailed("model_refused", "No.", details={"status": 400})
    assert (error.code, error.retryable, error.details) == ("model_refused", False, {"status": 400, "retryable": False})


def test_a_request_asks_with_what_the_session_is_pinned_to() -> None:
    request = asking()
    assert (request.system_prompt, request.tools) == (AGENT.system_prompt, AGENT.tools)
    assert request.turns is request.session.turns
