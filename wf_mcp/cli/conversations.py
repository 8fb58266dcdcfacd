"""Sessions as people want to see them: a summary, a conversation, what waits."""

import json
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from wf_mcp.cli import pictures
from wf_mcp.cli.output import as_text, diagnostic, facts, status, table, when
from wf_mcp.operations.models import PendingCall, PendingList, RunSummary
from wf_mcp.operations.session_models import SessionDetail, SessionList, SessionSummary, TurnView

LONGEST_LINE = 200


def summary(told: SessionSummary) -> RenderableType:
    """Show where a session stands, what it waits for, and what can be done next."""
    parts: list[RenderableType] = [
        facts(
            (
                ("session", told.session_id or Text("none was created", style="dim")),
                ("status", status(told.status)),
                ("agent", told.agent),
                ("turns", str(told.turns) if told.session_id else None),
                ("answer", None if told.answer is None else as_text(told.answer)),
                ("changed", when(told.updated_at) if told.session_id else None),
            )
        )
    ]
    if told.error is not None:
        parts.append(Text.assemble((told.error.code, "red"), f": {told.error.message}"))
    parts += [diagnostic(found) for found in told.diagnostics]
    parts += [call(waiting) for waiting in told.pending_calls]
    if told.status in {"waiting", "ready"}:
        parts.append(Text.assemble(("go on: ", "dim"), f"wf session resume {told.session_id}"))
    return Group(*parts)


def detail(told: SessionDetail) -> RenderableType:
    """Show a session with its conversation."""
    return Group(*(turn(said) for said in told.conversation), summary(told))


def answer(text: str) -> RenderableType:
    """Show what the model answered at last."""
    return Panel(as_text(text), title="the model answers", title_align="left", border_style="green")


def turn(said: TurnView) -> RenderableType:
    """Show one turn."""
    lines: list[RenderableType] = [] if said.text in (None, "") else [as_text(said.text)]
    for asked in said.calls:
        state = f" ({asked['state']})" if "state" in asked else ""
        lines.append(Text.assemble(("→ ", "cyan"), f"{asked['name']}{state} ", (_short(asked["arguments"]), "dim")))
    lines += [_result("← ", given) for given in said.results]
    lines += [_result("! ", given) for given in said.notices]
    style = "green" if said.by == "model" else "blue"
    return Panel(Group(*lines), title=said.by, title_align="left", border_style=style, subtitle=said.id)


def call(waiting: PendingCall) -> RenderableType:
    """Show a call that waits, and how it is answered."""
    return Panel(
        facts(
            (
                ("waits for", _awaited(waiting)),
                ("arguments", as_text(waiting.arguments)),
                ("token", waiting.token),
                ("call", waiting.call_id),
                ("since", when(waiting.since)),
                ("until", waiting.expires_at),
                ("answer it", Text("\n".join(answers(waiting)), style="cyan")),
            )
        ),
        title=Text.assemble((f" {waiting.name} ", "bold"), f"{waiting.capability} "),
        title_align="left",
        border_style="red" if waiting.state == "in_doubt" else "yellow",
        expand=False,
    )


def answers(waiting: PendingCall) -> list[str]:
    """Give the commands that answer a call."""
    match waiting.awaits:
        case "approval":
            return [f"wf session approve {waiting.token}", f"wf session fail {waiting.token}"]
        case "in_doubt":
            return [f"wf calls {verb} {waiting.token}" for verb in ("complete", "fail", "retry")]
        case "isolated":
            return [f"wf session run-isolated {waiting.session_id}", f"wf session complete {waiting.token} FILE"]
        case "callee":
            return [f"wf session resume {waiting.session_id}  (once it has ended)"]
        case _:
            return [f"wf session complete {waiting.token} FILE", f"wf session fail {waiting.token}"]


def pending(page: PendingList) -> RenderableType:
    """Show calls that wait, one a row."""
    return table(
        ("token", "tool", "call", "disposition", "since"),
        (
            (
                item.call.token,
                item.call.name or item.call.capability,
                item.call.call_id or "/".join(item.call.path),
                _disposition(item.call),
                when(item.call.since),
            )
            for item in page.pending
            if item.call is not None
        ),
        empty="Nothing waits.",
    )


def rows(page: SessionList) -> RenderableType:
    """Show sessions, one a row."""
    return table(
        ("session", "status", "agent", "turns", "waiting calls", "changed"),
        (
            (
                row.session_id,
                status(row.status),
                row.agent,
                str(row.turns),
                str(row.pending or ""),
                when(row.updated_at),
            )
            for row in page.sessions
        ),
        empty="No sessions.",
    )


def answered(told: RunSummary | SessionSummary) -> RenderableType:
    """Show what goes on with an answer that was delivered."""
    if isinstance(told, RunSummary):
        return pictures.summary(told)
    left = len(told.pending_calls)
    more = f"; {left} more to come" if left else ""
    return Group(
        Text.assemble("Delivered to ", (str(told.session_id), "bold"), more, "."),
        *([Text.assemble(("go on: ", "dim"), f"wf session resume {told.session_id}")] if not left else []),
    )


def _awaited(waiting: PendingCall) -> str:
    what = {
        "approval": "a person's approval",
        "in_doubt": "a person's word: it may have been carried out",
        "isolated": "a sandbox",
        "callee": "what it started",
    }.get(waiting.awaits or "", "its result from outside")
    return f"{what} ({waiting.reason})" if waiting.reason else what


def _disposition(waiting: PendingCall) -> str:
    if waiting.state == "in_doubt":
        return "in doubt"
    said = waiting.disposition or {"tag": waiting.state}
    if said["tag"] == "decorate":
        return json.dumps(said, ensure_ascii=False)
    return f"{said['tag']}: {waiting.reason}" if waiting.reason else str(said["tag"])


def _result(sign: str, given: dict[str, Any]) -> Text:
    result: dict[str, Any] = given["result"]
    style = "yellow" if given["held"] else "red" if result.get("error") else "green"
    return Text.assemble((sign, style), f"{given['name']} ", (_short(result.get("content", result)), "dim"))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]} …"
