"""How a problem in a file of the operator reads."""

import pytest
from pydantic import ValidationError

from wf_mcp.config.models import Config
from wf_mcp.config.problems import problems


def test_every_problem_has_its_place_and_no_value() -> None:
    with pytest.raises(ValidationError) as refused:
        Config.model_validate({"agents": {"helper": {}}, "max_bytes": "secret", "mcpServer": {"x": {}}})
    told = problems(refused.value, lambda parents: ["mcpServers"] if not parents else [])
    assert told == [
        "max_bytes: Input should be a valid integer",
        "agents.helper.file is missing",
        "unknown key mcpServer (did you mean mcpServers?)",
    ]
