"""Prompts that a person picks in the client."""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from tests.wf_mcp.server.connected import Era, connected

pytestmark = pytest.mark.anyio


async def test_both_prompts_are_offered_with_title_and_description(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        prompts = (await server.client.list_prompts()).prompts

    assert [prompt.name for prompt in prompts] == ["author_workflow", "debug_run"]
    assert all(prompt.title and prompt.description for prompt in prompts)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("author_workflow", {"task": "water the plants"}, "water the plants"),
        ("debug_run", {"run_id": "run_7"}, "run_7"),
    ],
)
async def test_a_prompt_speaks_of_what_it_was_given(
    tmp_path: Path, era: Era, name: str, arguments: dict[str, str], said: str
) -> None:
    async with connected(tmp_path, era) as server:
        prompt = await server.client.get_prompt(name, arguments)

    assert said in str(prompt.messages[0].content)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("debug_run", {}, "`run_id` is missing. The prompt debug_run takes `run_id`."),
        ("debug_run", {"run_id": "r", "task": "t"}, "`task` is no argument of the prompt debug_run."),
        ("debug_runs", {}, 'There is no prompt "debug_runs". There is debug_run.'),
        ("x", {}, "There is author_workflow, debug_run."),
    ],
)
async def test_what_is_asked_wrongly_is_no_fault_of_the_server(
    tmp_path: Path, era: Era, caplog: pytest.LogCaptureFixture, name: str, arguments: dict[str, str], said: str
) -> None:
    async with connected(tmp_path, era) as server:
        with pytest.raises(MCPError) as caught:
            await server.client.get_prompt(name, arguments)

    assert caught.value.code == -32602
    assert said in caught.value.message
    assert "Traceback" not in caplog.text
