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
        "max_bytes: expected a whole number",
        "agents.helper.file is missing",
        "unknown key mcpServer (did you mean mcpServers?)",
    ]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "expected an object"),
        ({"agents": []}, "agents: expected an object"),
        ({"agents": {"helper": 5}}, "agents.helper: expected an object"),
        ({"agents": {"helper": {"file": 5}}}, "agents.helper.file: expected text"),
        ({"mcpServers": {"up": {"command": "x", "args": "y"}}}, "mcpServers.up.args: expected a list"),
        ({"mcpServers": {"up": {"command": "x", "enabled": 1}}}, "mcpServers.up.enabled: expected true or false"),
        ({"mcpServers": {"up": {"command": ""}}}, "mcpServers.up.command: should have at least 1 character"),
        ({"mcpServers": {"up": {"command": "x", "type": "z"}}}, "mcpServers.up.type: should be 'stdio', 'http' or"),
        ({"max_bytes": 0}, "max_bytes: should be greater than 0"),
        ({"mcpServers": {"up": {}}}, "mcpServers.up: write either command or url"),
    ],
)
def test_a_problem_is_told_in_words_that_speak_of_no_library(document: object, told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Config.model_validate(document)
    [problem] = problems(refused.value, lambda _: [])
    assert problem.startswith(told)
