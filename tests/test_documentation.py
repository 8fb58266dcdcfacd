"""What the documentation mentions exists, and what exists is documented."""

import ast
import json
import re
from pathlib import Path
from typing import get_args

import pytest
import typer

from wf_artifacts.sessions.models import SessionStatus
from wf_core.calls.policy_data import read_policy
from wf_core.std.capabilities import STD
from wf_core.validation import read_plan
from wf_mcp import agents
from wf_mcp.cli.main import app
from wf_mcp.config.agents import AgentFile, parse_agent
from wf_mcp.config.load import parse_config
from wf_mcp.errors import MEANINGS
from wf_mcp.llm.protocol import ModelFault
from wf_mcp.llm.scripted import Script
from wf_mcp.server.tools import TOOLSETS, tools_of

ROOT = Path(__file__).parent.parent
SURFACE = ROOT / "docs" / "surface.md"
PLAN_FORMAT = ROOT / "docs" / "plan-format.md"
AGENTS = ROOT / "docs" / "agents.md"
SESSIONS = ROOT / "docs" / "sessions.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

# In code, a command stands at the beginning of a span or a line, or after a prompt or `&&`.
COMMAND = re.compile(r"(?:^|`|&& |\$ )wf ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", re.MULTILINE)
CODE_IN_TABLE = re.compile(r"`([a-z_]+)(?:\(.*?\))?`")

FAILURES = {"StepFailed", "CallFailed", "CallFailure", "EnvelopeError", "IsolationError", "ModelFailed", "require"}
"""What is made with the code of an error as its first argument."""

BASES = {"run_refused", "store_error", "not_found"}
"""Codes of classes of which only others are made."""


def commands() -> set[str]:
    """Give every command of `wf`, groups by their full name: `runs start`, `demo`."""
    found: set[str] = set()

    def walk(command: object, name: str) -> None:
        nested: dict[str, object] = getattr(command, "commands", {})
        for word, child in nested.items():
            walk(child, f"{name} {word}".strip())
        if not nested:
            found.add(name)

    walk(typer.main.get_command(app), "")
    return found


def section(page: Path, title: str) -> str:
    """Give the text below a heading, up to the next one of its level."""
    _, _, rest = page.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    assert rest, f"{page.name} has no section {title!r}"
    return rest.partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """Give the names in code in the first column of the tables of a text."""
    rows = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {name for cell in rows for name in CODE_IN_TABLE.findall(cell)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_mentioned_command_exists(page: Path) -> None:
    known = commands()
    groups = {name.partition(" ")[0] for name in known}
    for noun, verb in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert noun in groups, f"wf {noun}"
        assert noun in known or not verb or f"{noun} {verb}" in known, f"wf {noun} {verb}"


def test_every_command_is_documented() -> None:
    text = SURFACE.read_text(encoding="utf-8")
    assert [name for name in sorted(commands()) if f"`wf {name}`" not in text] == []


def test_the_documented_tools_are_the_tools() -> None:
    assert first_cells(section(SURFACE, "Tools")) == {tool.name for tool in tools_of(TOOLSETS)}


def codes_raised() -> set[str]:
    """Give the error codes that stand in the code: those of classes, and those that a failure is made with."""
    files = [file for package in ("wf_core", "wf_artifacts", "wf_mcp") for file in (ROOT / package).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    constants: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(str(value))) if name.isupper():
                constants[name] = value
            case _:
                pass
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name("code")], value=ast.Constant(str(code))):
                found.add(code)
            case ast.AnnAssign(target=ast.Name("code"), value=ast.Constant(str(code))):
                found.add(code)
            case ast.Call(func=ast.Name(name), args=[ast.Constant(str(code)), *_]) if name in FAILURES:
                found.add(code)
            case ast.Call(func=ast.Attribute(attr="__init__"), args=[ast.Name(name), *_]) if name in constants:
                found.add(constants[name])
            case ast.Call(func=ast.Name(made), args=[ast.Name(name), *_]) if made in FAILURES and name in constants:
                found.add(constants[name])
            case _:
                pass
    return found


def test_every_error_code_is_documented() -> None:
    documented = first_cells(section(SURFACE, "Errors"))
    assert {*codes_raised(), *MEANINGS, *get_args(ModelFault)} - documented - BASES == set()


def test_the_documented_error_codes_exist_and_each_has_its_story() -> None:
    documented = first_cells(section(SURFACE, "Errors").partition("| code also met |")[0])
    assert documented - set(MEANINGS) == set()
    stories = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "stories").glob("test_*.py"))
    assert {code for code in documented if f'"{code}"' not in stories} == set()


def test_the_documented_built_in_capabilities_are_those_that_exist() -> None:
    text = section(SURFACE, "What is built in")
    assert set(re.findall(r"`wf\.std\.([a-z_]+)`", text)) == set(STD)


def test_the_plan_in_the_documentation_is_valid() -> None:
    example = re.search(r"```json\n(.*?)```", PLAN_FORMAT.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    report = read_plan(json.loads(example.group(1)))
    assert report.issues == []


def test_the_agent_the_configuration_and_the_script_in_the_documentation_are_valid() -> None:
    agent, configuration, script = re.findall(r"```json\n(.*?)```", AGENTS.read_text(encoding="utf-8"), re.DOTALL)
    assert parse_agent(agent, name="agent").slug in parse_config(configuration.encode()).agents
    assert len(Script.model_validate(json.loads(script)).answers) == 2


def test_every_key_of_an_agent_file_is_documented() -> None:
    table, _, _ = AGENTS.read_text(encoding="utf-8").partition("## Tools")
    documented = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert documented == {field.alias for field in AgentFile.model_fields.values()}


def test_every_fault_of_a_model_and_every_combinator_is_documented() -> None:
    assert first_cells(section(AGENTS, "Models")) == set(get_args(ModelFault))
    combinators = {name for name in vars(agents) if name.startswith("with_")}
    assert set(re.findall(r"`(with_\w+)`", section(AGENTS, "In Python"))) == combinators


def test_the_table_of_seed_features_names_modules_and_tests_that_exist() -> None:
    rows = [line.split(" | ") for line in section(SESSIONS, "What the seed documents ask for").splitlines()]
    features = [row for row in rows if len(row) == 3 and "`wf_" in row[1]]
    assert len(features) > 80
    wrong: list[str] = []
    for _, here, shown in features:
        (module,) = re.findall(r"`(\S+)`", here)
        ((page, test),) = re.findall(r"`(\S+)::(\w+)`", shown)
        file = ROOT / "tests" / page
        if not (ROOT / module).is_file():
            wrong.append(module)
        if not file.is_file() or not re.search(rf"^ *(?:async )?def {test}\(", file.read_text("utf-8"), re.MULTILINE):
            wrong.append(f"{page}::{test}")
    assert wrong == []


def test_the_policy_in_the_documentation_is_valid_and_shows_every_disposition() -> None:
    example = re.search(r"```json\n(.*?)```", section(SESSIONS, "Policy"), re.DOTALL)
    assert example is not None
    assert read_policy(json.loads(example.group(1))).rules
    tags = set(re.findall(r'"tag": "(run\w+|defer|decorate)"', example.group(1)))
    assert tags == first_cells_of_any_case(section(SESSIONS, "Policy"))


def first_cells_of_any_case(text: str) -> set[str]:
    """Give the names in code in the first column of tables, camelCase ones too."""
    return {name for line in text.splitlines() if line.startswith("| `") for name in re.findall(r"^\| `(\w+)`", line)}


def test_every_status_of_a_session_is_documented() -> None:
    told = {*get_args(SessionStatus), "blocked"}  # which is found out when somebody looks
    assert first_cells(section(SESSIONS, "From the beginning to the answer")) == told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
