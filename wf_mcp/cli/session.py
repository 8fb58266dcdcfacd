"""`wf session`: start, advance and look at agent sessions, and answer their calls."""

import base64
import codecs
import mimetypes
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from wf_artifacts.sessions.models import SessionStatus
from wf_core.calls.results import read_result, result_to_json
from wf_core.errors import NotJson
from wf_core.ids import read_call_token
from wf_core.jsonvalue import JsonValue, loads
from wf_core.sessions import Attachment
from wf_mcp.app import App
from wf_mcp.cli import conversations, session_pruning
from wf_mcp.cli.advancing import WAIT_SECONDS, Advanced, advance, end, watched
from wf_mcp.cli.documents import read_file, read_stdin
from wf_mcp.cli.operate import guard, operate
from wf_mcp.cli.output import AsJson, Cursor, Limit, console, print_json, print_text, show
from wf_mcp.operations import calls, pending
from wf_mcp.operations import sessions as operations
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import RunSummary
from wf_mcp.operations.session_models import SessionSummary

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Start, advance and look at agent sessions, and answer their calls.",
)

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]
Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The call's token, as `wf session pending` shows it.")]
AgentName = Annotated[str, typer.Option("--agent", metavar="AGENT", help="An agent file, or an agent of wf.json.")]
Prompt = Annotated[str | None, typer.Option("--prompt", help="What the user says.")]
Files = Annotated[list[Path] | None, typer.Option("--file", help="A file that the user sends along; repeatable.")]


@app.command()
def start(
    context: typer.Context,
    agent: AgentName,
    prompt: Prompt = None,
    file: Files = None,
    step: Annotated[bool, typer.Option("--step", help="Take one step right away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a session, and print its id. Its model is not asked yet."""
    sent = guard(lambda: attachments(file or []), as_json=as_json)

    async def action(wf: App) -> Advanced:
        told = await operations.start_session(
            wf, agent=agent_of(agent), prompt=prompt, attachments=sent, caller=LOCAL_PERSON
        )
        if told.session_id is None or not step:
            return Advanced(told, [])
        return await watched(wf, told.session_id, partial(_take_step, told.session_id))

    done = operate(context, action, as_json=as_json)
    if done.told.session_id is not None and not as_json:
        print_text(done.told.session_id)
    if step or as_json or done.told.session_id is None:
        end(done, as_json=as_json)


@app.command("step")
def take_step(context: typer.Context, session_id: SessionId, as_json: AsJson = False) -> None:
    """Take one step, and show where the session stands: the model is asked once, or its calls are made."""
    advance(context, session_id, partial(_take_step, session_id), as_json=as_json)


@app.command()
def pause(context: typer.Context, session_id: SessionId, as_json: AsJson = False) -> None:
    """Take one step and leave the session at rest; the tokens of the calls that wait are shown."""
    advance(
        context,
        session_id,
        lambda wf: operations.pause_session(wf, session_id=session_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON),
        as_json=as_json,
    )


@app.command()
def resume(
    context: typer.Context, session_id: SessionId, prompt: Prompt = None, file: Files = None, as_json: AsJson = False
) -> None:
    """Go on with a session to its answer, or to where it has to wait."""
    sent = guard(lambda: attachments(file or []), as_json=as_json)
    advance(
        context,
        session_id,
        lambda wf: operations.resume_session(
            wf,
            session_id=session_id,
            prompt=prompt,
            attachments=sent,
            wait_seconds=WAIT_SECONDS,
            caller=LOCAL_PERSON,
        ),
        as_json=as_json,
    )


@app.command("run-isolated")
def run_isolated(context: typer.Context, session_id: SessionId, as_json: AsJson = False) -> None:
    """Carry out the calls that wait for isolation, each in a worker of its own."""
    advance(
        context,
        session_id,
        lambda wf: operations.run_isolated(wf, session_id=session_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON),
        as_json=as_json,
    )


@app.command("pending")
def list_pending(
    context: typer.Context,
    session_id: SessionId,
    cursor: Cursor = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List the calls of a session that wait for the outside: tool, call id, token, disposition."""
    page = operate(
        context,
        lambda wf: pending.list_pending(
            wf, session_id=session_id, only="call", cursor=cursor, limit=limit, caller=LOCAL_PERSON
        ),
        as_json=as_json,
    )
    show(page, conversations.pending, as_json=as_json)


@app.command()
def complete(
    context: typer.Context,
    token: Token,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What the call gave: a file, or - for stdin.")],
    as_json: AsJson = False,
) -> None:
    """Deliver the result of a call: JSON that says what it is, or any text. The first result stays."""
    data = guard(lambda: read_stdin() if file == "-" else read_file(Path(file)), as_json=as_json)
    # What some editors put in front of a text is no part of it.
    said = data.removeprefix(codecs.BOM_UTF8)
    # A run's call takes what its capability would give, a session's one of the forms that a model reads.
    result = result_to_json(read_result(said)) if read_call_token(token) is None else _value(said)
    _answer(
        context, lambda wf: calls.complete_call(wf, token=token, result=result, caller=LOCAL_PERSON), as_json=as_json
    )


@app.command()
def fail(
    context: typer.Context,
    token: Token,
    error: Annotated[str | None, typer.Option("--error", help="Why; the model is told.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say that a call failed, or refuse it."""
    _answer(context, lambda wf: calls.fail_call(wf, token=token, error=error, caller=LOCAL_PERSON), as_json=as_json)


@app.command()
def approve(context: typer.Context, token: Token, as_json: AsJson = False) -> None:
    """Allow a call that waits for a person's approval. It is made when the session goes on."""
    _answer(context, lambda wf: calls.approve_call(wf, token=token, caller=LOCAL_PERSON), as_json=as_json)


@app.command("show")
def show_session(
    context: typer.Context,
    session_id: SessionId,
    turns: Annotated[int, typer.Option(help="How many of the last turns, at most 100.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show where a session stands, with the last turns of its conversation."""
    told = operate(
        context,
        lambda wf: operations.inspect_session(wf, session_id=session_id, turns=turns, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(told, conversations.detail, as_json=as_json)


@app.command("list")
def list_sessions(
    context: typer.Context,
    status: Annotated[SessionStatus | None, typer.Option(help="Only sessions that stand so.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List sessions, newest first."""
    page = operate(
        context,
        lambda wf: operations.list_sessions(wf, status=status, cursor=cursor, limit=limit, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(page, conversations.rows, as_json=as_json)


@app.command()
def fork(context: typer.Context, session_id: SessionId, as_json: AsJson = False) -> None:
    """Copy a session, and print the copy's id. Calls that wait get tokens of their own there."""
    told = operate(
        context,
        lambda wf: operations.fork_session(wf, session_id=session_id, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    if as_json:
        print_json(told.model_dump(mode="json"))
    else:
        print_text(told.session_id or "")


@app.command()
def delete(context: typer.Context, session_id: SessionId, as_json: AsJson = False) -> None:
    """Delete a session with everything that is kept of it."""
    gone = operate(
        context,
        lambda wf: operations.delete_session(wf, session_id=session_id, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(gone, lambda deleted: f"deleted {deleted.session_id}", as_json=as_json)


app.command()(session_pruning.prune)


def _value(data: bytes) -> JsonValue:
    """Read what a run's call gave: JSON, else the text."""
    try:
        return loads(data, "FILE")
    except NotJson:
        return data.decode(errors="replace")


def agent_of(text: str) -> str | Path:
    """Tell an agent file from the name of an agent in wf.json."""
    path = Path(text)
    return path if path.suffix == ".json" or "/" in text or _is_file(path) else text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can have this name: it is too long
        return False


def attachments(files: list[Path]) -> list[Attachment]:
    """Read the files that a user sends along.

    Raises:
        InvalidArgument: one cannot be read.
    """
    return [_attachment(file, read_file(file)) for file in files]


def _attachment(file: Path, data: bytes) -> Attachment:
    kind = mimetypes.guess_type(file.name)[0] or ("text/plain" if _is_text(data) else "application/octet-stream")
    name = file.name.encode(errors="replace").decode()
    return Attachment(kind, base64.b64encode(data).decode("ascii"), name)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _take_step(session_id: str, wf: App) -> SessionSummary:
    return await operations.step_session(wf, session_id=session_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON)


def _answer(
    context: typer.Context, give: Callable[[App], Awaitable[RunSummary | SessionSummary]], *, as_json: bool
) -> None:
    """Answer a call, and show what waits for the answer."""
    told = operate(context, give, as_json=as_json)
    if as_json:
        print_json(told.model_dump(mode="json"))
    else:
        console().print(conversations.answered(told))
