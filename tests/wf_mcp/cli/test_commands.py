"""Commands in the place of the tools that errors name."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from typer.main import get_command

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.commands import COMMANDS, as_commands
from wf_mcp.cli.main import app
from wf_mcp.server.tools import tools_of
from wf_mcp.server.toolsets import TOOLSETS

TOOLS = {tool.name: tool for tool in tools_of(TOOLSETS)}
WITHOUT_A_TOOL = {"list_sources"}
"""What errors name as if it were one."""


def parameters(words: Sequence[str]) -> tuple[list[str], set[str]]:
    """Give the arguments of a command in order, and its options."""
    command = cast("Any", get_command(app))
    for word in words:
        if not word.startswith("--"):
            command = getattr(command.commands[word], "_command", command.commands[word])
    arguments = [one.name for one in command.params if one.param_type_name == "argument"]
    return arguments, {option for one in command.params for option in one.opts if option.startswith("--")}


def test_every_tool_has_a_command() -> None:
    assert set(COMMANDS) == set(TOOLS) | WITHOUT_A_TOOL


@pytest.mark.parametrize("tool", COMMANDS)
def test_a_command_exists_and_takes_what_the_tool_is_given(tool: str) -> None:
    words, *given = COMMANDS[tool]
    arguments, options = parameters(words.split())
    positional = [one for one in given if not one.startswith("--")]
    assert len(positional) == len(arguments)
    assert {word for word in words.split() if word.startswith("--")} <= options
    assert {one.partition("=")[0] for one in given if one.startswith("--")} <= options
    if tool not in WITHOUT_A_TOOL:
        names = set(TOOLS[tool].parameters["properties"])
        assert {one.rpartition("=")[2] for one in given} <= names


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("list_runs shows the runs that there are.", "wf runs list shows the runs that there are."),
        ("inspect_run(run_id='run_1') shows it.", "wf runs show run_1 shows it."),
        ('inspect_run(run_id="run_1", wait_seconds=25)', "wf runs show run_1"),
        ("Look at it with inspect_run.", "Look at it with wf runs show."),
        ("list_sources() shows every one.", "wf sources list shows every one."),
        ("list_pending(session_id=…) lists it.", "wf pending --session … lists it."),
        ('complete_call(token="call_1", result=…)', "wf calls complete call_1 RESULT"),
        ("resume_session(session_id='s', prompt=<what is said>)", "wf session resume s --prompt <what is said>"),
        ("validate_run(run_id='r') says more", "wf runs show --check r says more"),
        ("say that it failed: fail_call, wf calls fail.", "say that it failed: wf calls fail."),
        ("Pass replace=true to replace it", "Pass --replace to replace it"),
        (
            "Did you mean wf.list_runs, list_runs_2 or my-list_runs?",
            "Did you mean wf.list_runs, list_runs_2 or my-list_runs?",
        ),
    ],
)
def test_a_tool_is_named_as_its_command(hint: str, said: str) -> None:
    assert as_commands(hint) == said


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("runs", "show", "run_nothing"), "wf runs list"),
        (("artifacts", "show", "nothing"), "wf artifacts list"),
        (("deployments", "show", "nothing"), "wf deployments list"),
        (("session", "show", "sess_nothing"), "wf session list"),
        (("calls", "show", "call_nothing"), "wf pending"),
        (("capabilities", "show", "ops.nothing"), "wf capabilities list"),
        (("sources", "show", "nothing"), "wf sources list"),
    ],
)
def test_a_person_is_told_commands_and_a_program_what_the_tool_answers(
    terminal: Terminal, words: tuple[str, ...], command: str
) -> None:
    """Known gap once: a person was told to call `list_runs`."""
    said = terminal.wf(*words)
    assert command in said.stderr
    assert not any(tool in said.stderr for tool in COMMANDS)
    assert any(tool in str(terminal.wf(*words, "--json").json["error"]["hint"]) for tool in COMMANDS)
