"""Sessions as people want to see them: a summary, a conversation, what waits."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from wf_core.calls.results import as_text as as_words
from wf_core.calls.results import read_result
from wf_core.jsonvalue import JsonValue
from wf_mcp.cli import pictures
from wf_mcp.cli.output import LONGEST_NAME, as_text, diagnostic, facts, hint, status, table, when
from wf_mcp.cli.screen import INDENT, block, line, stacked
from wf_mcp.cli.visible import exact_json
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.operations.models import PendingCall, PendingList, RunSummary
from wf_mcp.operations.session_models import SessionDetail, SessionErrorView, SessionList, SessionSummary, TurnView

LONGEST_LINE = 200


def summary(told: SessionSummary) -> RenderableType:
    """Show where a session stands, what it waits for, and what can be done next."""
    parts: list[RenderableType] = [
        facts(
            (
                ("session", told.session_id or line("none was created", style="dim")),
                ("status", status(told.status)),
                ("agent", told.agent),
                ("turns", str(told.turns) if told.session_id else None),
                ("answer", None if told.answer is None else as_text(told.answer)),
                ("changed", when(told.updated_at) if told.session_id else None),
            )
        )
    ]
    parts += _faults(told)
    parts += [call(waiting) for waiting in told.pending_calls]
    if told.status in {"waiting", "ready"}:
        parts.append(line(("go on: ", "dim"), f"wf session resume {told.session_id}"))
    return Group(*parts)


def advanced(told: SessionSummary, turns: Sequence[TurnView]) -> RenderableType:
    """Show what a session did in these turns, where it stands now, and what can be done next."""
    shown = {asked.get("call_id") for turn in turns for asked in turn.calls}
    parts = [happened(told, turns), *(call(one) for one in told.pending_calls if one.call_id not in shown)]
    parts += _faults(told)
    here = [one for one in told.pending_calls if one.call_id in shown]
    ways = {line.replace(one.token, "TOKEN"): None for one in here for line in answers(one)}
    parts += [line(status(told.status), *_next(told)), *(line(f"  {way}", style="cyan") for way in ways)]
    return Group(*parts)


def happened(told: SessionSummary, turns: Sequence[TurnView]) -> RenderableType:
    """Show turns; in the place of the last one the answer, if it is that."""
    waiting = {one.call_id or "": one for one in told.pending_calls}
    if told.answer is None or not turns:
        return Group(*(done(turn, waiting) for turn in turns))
    return Group(*(done(turn, waiting) for turn in turns[:-1]), answer(told.answer))


def done(turn: TurnView, waiting: Mapping[str, PendingCall]) -> RenderableType:
    """Show what happened in one turn: what was said, what the model asks for or is given, what became of its calls."""
    lines: list[RenderableType] = []
    if turn.text:
        lines += [line(f"the {turn.by} says"), Padding(as_text(turn.text), (0, 0, 0, 2), expand=False)]
    if turn.by == "model" and turn.calls:
        asked = (("→", "cyan", _name(one), _short(one["arguments"])) for one in turn.calls)
        lines += [line("the model asks for"), _signed(asked)]
    elif any(one["state"] != "ready" for one in turn.calls):
        lines += [line("its calls"), _signed(_became(one, waiting.get(one["call_id"])) for one in turn.calls)]
    if turn.results:
        lines += [line("the model is given"), _signed(map(_given, turn.results))]
    if turn.notices:
        lines += [line("and learns of earlier calls"), _signed(map(_given, turn.notices))]
    return Group(*lines)


def detail(told: SessionDetail) -> RenderableType:
    """Show a session with its conversation."""
    return Group(*(turn(said) for said in told.conversation), summary(told))


def answer(text: str) -> RenderableType:
    """Show what the model answered at last."""
    return Panel(block(text), expand=False, title="the model answers", title_align="left", border_style="green")


def turn(said: TurnView) -> RenderableType:
    """Show one turn."""
    lines: list[RenderableType] = [] if said.text in (None, "") else [as_text(said.text)]
    for asked in said.calls:
        state = f" ({asked['state']})" if "state" in asked else ""
        lines.append(line(("→ ", "cyan"), f"{asked['name']}{state} ", (_short(asked["arguments"]), "dim")))
    lines += [_result("← ", given) for given in said.results]
    lines += [_result("! ", given) for given in said.notices]
    style = "green" if said.by == "model" else "blue"
    return Panel(Group(*lines), title=line(said.by), title_align="left", border_style=style, subtitle=line(said.id))


def call(waiting: PendingCall) -> RenderableType:
    """Show a call that waits, and how it is answered."""
    return Panel(
        facts(
            (
                ("waits for", awaited(waiting)),
                ("arguments", as_text(waiting.arguments)),
                ("token", waiting.token),
                ("call", waiting.call_id),
                ("since", when(waiting.since)),
                ("until", waiting.expires_at),
                ("answer it", stacked(*(line(way, style="cyan") for way in answers(waiting)))),
            )
        ),
        title=line((f" {waiting.name} ", "bold"), f"{waiting.capability} "),
        title_align="left",
        border_style="red" if waiting.state == "in_doubt" else "yellow",
        expand=False,
    )


def awaited(waiting: PendingCall) -> Text:
    """Say in a few words for whom or what a call waits."""
    what = {
        "approval": "a person's approval",
        "in_doubt": "in doubt: a person says what became of it",
        "isolated": "its sandbox",
        "callee": "what it started",
    }.get("in_doubt" if waiting.state == "in_doubt" else waiting.awaits or "", "its result from outside")
    if waiting.state == "in_doubt":
        return line(what, style="red")
    if waiting.awaits == "isolated" and waiting.reason == NO_RUNNER:
        return line("a runner: neither its agent nor its policy says where it can run", style="yellow")
    reason = f" ({waiting.reason})" if waiting.reason and waiting.reason != waiting.awaits else ""
    return line(what + reason, style="yellow")


def answers(waiting: PendingCall) -> list[str]:
    """Give the commands that answer a call."""
    match waiting.awaits:
        case "approval":
            return [f"wf session approve {waiting.token}", f"wf session fail {waiting.token}"]
        case "in_doubt":
            return [f"wf calls {verb} {waiting.token}" for verb in ("complete", "fail", "retry")]
        case "isolated" if waiting.reason == NO_RUNNER:
            return [f"wf session complete {waiting.token} FILE", f"wf session fail {waiting.token}"]
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
        line("Delivered to ", (str(told.session_id), "bold"), more, "."),
        *([line(("go on: ", "dim"), f"wf session resume {told.session_id}")] if not left else []),
    )


def _faults(told: SessionSummary) -> list[RenderableType]:
    """Say why there is no answer, what keeps the session from going on, and what the model will be told then."""
    queued = [line(("the user says next: ", "dim"), block(words, indent=INDENT)) for words in told.queued_prompts]
    return [*([] if told.error is None else [_error(told.error)]), *map(diagnostic, told.diagnostics), *queued]


def _error(found: SessionErrorView) -> Text:
    said = line((found.code, "red"), ": ", block(found.message, indent=INDENT))
    return stacked(said, hint(found.hint)) if found.hint else said


def _next(told: SessionSummary) -> tuple[Text | str, ...]:
    match told.status:
        case "ready" | "waiting":
            one_step = f"wf session step {told.session_id} takes one step, " if told.status == "ready" else ""
            return (line(f"  {one_step}wf session resume {told.session_id} goes on", style="dim"),)
        case _:
            return ()


def _signed(rows: Iterable[tuple[str, str, str, RenderableType]]) -> RenderableType:
    """Lay out calls under each other: a sign, a name, and what there is to say."""
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(max_width=LONGEST_NAME, overflow="fold")
    made.add_column(overflow="fold")
    for sign, style, name, said in rows:
        words = line(said, style="dim") if isinstance(said, str) else said
        made.add_row(line(f"  {sign}", style=style), line(name), words)
    return made


def _became(tracked: dict[str, Any], waiting: PendingCall | None) -> tuple[str, str, str, RenderableType]:
    """Say what became of a call so far, and how it is answered."""
    name, state = str(tracked["name"]), str(tracked["state"])
    if tracked["result"] is not None:
        return _given(tracked)
    if waiting is not None:
        sign, style = ("?", "bold red") if waiting.state == "in_doubt" else ("…", "yellow")
        said = stacked(awaited(waiting), line(waiting.token, style="cyan"))
        return sign, style, name, said
    words = {"deferred": "answered; taken when the session goes on", "expired": "nobody answered it in time"}
    return ("✗" if state == "expired" else "·"), "dim", name, words.get(state, state)


def _given(placed: dict[str, Any]) -> tuple[str, str, str, RenderableType]:
    result: dict[str, Any] = placed["result"]
    sign, style = ("…", "yellow") if placed.get("held") else ("✗", "red") if result.get("error") else ("✓", "green")
    return sign, style, _name(placed), _words(result)


def _name(said: dict[str, Any]) -> str:
    return str(said["name"])


def _words(result: dict[str, Any]) -> str:
    """Say a result in one line."""
    return _short(" ".join(as_words(read_result(cast("JsonValue", result))).split()))


def _disposition(waiting: PendingCall) -> str:
    if waiting.state == "in_doubt":
        return "in doubt"
    said = waiting.disposition or {"tag": waiting.state}
    if said["tag"] == "decorate":
        return exact_json(said, indent=None)
    return f"{said['tag']}: {waiting.reason}" if waiting.reason else str(said["tag"])


def _result(sign: str, given: dict[str, Any]) -> Text:
    result: dict[str, Any] = given["result"]
    style = "yellow" if given.get("held") else "red" if result.get("error") else "green"
    return line((sign, style), f"{given['name']} ", (_words(result), "dim"))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else exact_json(value, indent=None)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]} …"
