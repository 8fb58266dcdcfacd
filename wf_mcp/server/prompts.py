"""Prompts that a person picks in the client: write a workflow, find out what went wrong."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, Prompt
from pydantic import Field

from wf_core.ids import close_matches
from wf_core.jsonvalue import quote
from wf_mcp.errors import InvalidArgument, describe


def add_prompts(server: MCPServer[Any]) -> None:
    """Add every prompt to `server`."""

    @server.prompt(title="Write a workflow")
    def author_workflow(
        task: Annotated[str, Field(description="What the workflow should do, in your own words.")],
    ) -> str:
        """Turn a task into a validated, deployed workflow."""
        return f"""Write a workflow for this task, and deploy it:

{task}

1. Read the resource wf://guide/authoring (and wf://schema/plan for details).
2. Call list_capabilities, then inspect_capability for each capability that you want to use. Use only what exists.
3. Write the plan. Where a person should decide, put an interrupt step and say in its request what is to be decided.
4. Call validate_workflow and mend every issue, warnings too, until there are none.
5. Show me the plan in words. When I agree: save_artifact, then create_deployment, and tell me how to run it."""

    @server.prompt(title="Find out what a run did")
    def debug_run(run_id: Annotated[str, Field(description="The run to look into.")]) -> str:
        """Explain why a run failed, is blocked or did something unexpected."""
        return f"""Find out what happened in the run {run_id}, and explain it to me.

1. Call inspect_run. Look at status, error (code, step_id, side_effects) and diagnostics.
2. Call read_run_trace with start=-10, and go further back until you see where it went wrong.
3. When it is blocked, call validate_run: it says which capability is missing or has changed.
4. Tell me in plain words what happened, at which step, whether anything outside was changed (side_effects), and what I
   can do about it. Do not start, answer or cancel anything without asking me."""


def check_prompt(offered: Sequence[Prompt], name: str, arguments: Mapping[str, str]) -> None:
    """Refuse what the SDK would take for a fault of the server.

    Raises:
        MCPError: there is no such prompt, or its arguments are others.
    """
    known = {prompt.name: prompt for prompt in offered}
    if name not in known:
        nearest = close_matches(name, list(known)) or list(known)
        raise _refusal(f"There is no prompt {quote(name)}.", f"There is {', '.join(nearest)}.")
    taken = {argument.name: argument.required for argument in known[name].arguments or []}
    problems = [f"`{given}` is no argument of the prompt {name}." for given in arguments if given not in taken]
    problems += [
        f"`{needed}` is missing." for needed, required in taken.items() if required and needed not in arguments
    ]
    if problems:
        raise _refusal(" ".join(problems), f"The prompt {name} takes {', '.join(f'`{one}`' for one in taken)}.")


def _refusal(message: str, hint: str) -> MCPError:
    shown = describe(InvalidArgument(message, hint=hint))
    return MCPError(code=INVALID_PARAMS, message=f"{shown['message']} {shown['hint']}", data={"error": shown})
