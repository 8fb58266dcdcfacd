"""`wf agent`: run an agent from beginning to end."""

from typing import Annotated

import typer

from wf_mcp.app import App
from wf_mcp.cli import conversations
from wf_mcp.cli.advancing import WAIT_SECONDS, exit_status, rested
from wf_mcp.cli.operate import guard, operate, ticker
from wf_mcp.cli.output import AsJson, print_json, print_text, show
from wf_mcp.cli.session import Files, Prompt, agent_of, attachments
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.operations import sessions as operations
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.session_models import SessionSummary

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Run an agent from beginning to end.")


@app.callback()
def agent() -> None:
    """Run an agent from beginning to end."""


@app.command()
def run(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An agent file, or an agent of wf.json.")],
    prompt: Prompt = None,
    attached: Files = None,
    as_json: AsJson = False,
) -> None:
    """Start a session and go on to its answer, which is printed; or print as JSON what it waits for.

    Calls that wait for isolation are carried out, where the agent has a runner.
    """
    sent = guard(lambda: attachments(attached or []), as_json=as_json)

    async def action(wf: App) -> SessionSummary:
        async with ticker("working"):
            told = await operations.start_session(
                wf, agent=agent_of(file), prompt=prompt, attachments=sent, caller=LOCAL_PERSON
            )
            return told if told.session_id is None else await _to_its_end(wf, told.session_id)

    told = operate(context, action, as_json=as_json)
    if as_json or told.status == "waiting":
        print_json(told.model_dump(mode="json"))
    elif told.status == "answered":
        print_text(told.answer or "")
    else:
        show(told, conversations.summary, as_json=False)
    raise typer.Exit(exit_status(told))


async def _to_its_end(wf: App, session_id: str) -> SessionSummary:
    """Go on until only the outside can."""
    tried: set[str] = set()
    while True:
        told = await rested(
            wf,
            await operations.resume_session(wf, session_id=session_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON),
        )
        isolated = {call.token for call in told.pending_calls if call.awaits == "isolated" and call.reason != NO_RUNNER}
        if told.status != "waiting" or isolated <= tried:
            return told
        tried |= isolated
        await rested(
            wf,
            await operations.run_isolated(wf, session_id=session_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON),
        )
