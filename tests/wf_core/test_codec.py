"""Every stored form that was ever written is still read, and leads to the same end.

A new version of a format adds its golden file here; those of earlier versions stay as they are.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from wf_core.calls.contract import Contract
from wf_core.codec import dump_run, load_run
from wf_core.codec.runs import VERSION
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer, Program, Ready, compile_program, complete, next_work, resume, start
from wf_core.state import RunState

GOLDEN = Path(__file__).parent / "codec" / "golden"
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
REPLY: dict[str, Any] = {"type": "object", "properties": {"reply": {"type": "string"}}, "required": ["reply"]}

CHILD: dict[str, Any] = {
    "name": "child",
    "state_schema": {"type": "object", "properties": {"said": {"type": "string"}}},
    "output_schema": {"type": "object", "properties": {"said": {"type": "string"}}},
    "start": "ask",
    "steps": {
        "ask": {
            "type": "interrupt",
            "kind": "question",
            "request": {"who": {"path": "input.who"}},
            "resume_schema": REPLY,
            "resume": {"state.said": "reply"},
            "routes": {"submitted": "__end__"},
        }
    },
}

PLAN: dict[str, Any] = {
    "name": "round",
    "state_schema": {
        "type": "object",
        "properties": {
            "odd": {"default": [10**30, 1.0, -0.5, "é𝄞\u0000", None, {"": []}]},
            "seen": {"type": "array", "default": [], "reducer": "append"},
            "replies": {"type": "array", "default": [], "reducer": "append"},
        },
    },
    "output_schema": {"type": "object"},
    "start": "each",
    "steps": {
        "each": {
            "type": "foreach",
            "over": "input.people",
            "as": "person",
            "mode": "concurrent",
            "routes": {"loop": "note", "done": "__end__"},
        },
        "note": {
            "type": "node",
            "use": "ops.note",
            "input": {"text": {"template": "{{context.person}} #{{context.person_index}}"}},
            "output": {"state.seen": "text"},
            "routes": {"ok": "child"},
        },
        "child": {
            "type": "subgraph",
            "workflow": {"plan": CHILD},
            "input": {"who": {"path": "context.person"}},
            "output": {"state.replies": "said"},
            "routes": {"ok": "__end__"},
        },
    },
    "output": {"seen": {"path": "state.seen"}, "replies": {"path": "state.replies"}, "odd": {"path": "state.odd"}},
}


def program() -> Program:
    return compile_program(PLAN, contracts={"ops.note": Contract()})


def advance(code: Program, run: RunState) -> None:
    """Go on until the run stops; every call answers with its own input."""
    while isinstance(work := next_work(code, run, now=NOW), Ready):
        for call in work.calls:
            complete(code, run, call.call_id, outcome="ok", output=dict(call.input), now=NOW)


def answer(code: Program, run: RunState, interrupt_id: str, reply: str) -> None:
    resume(code, run, Answer(payload={"reply": reply}, interrupt_id=interrupt_id), now=NOW)
    advance(code, run)


def paused() -> RunState:
    """Ask three people at once, and hear the second."""
    code = program()
    people: list[JsonValue] = ["Ada", "Grace", "Edsger"]
    run = start(code, run_id="run_golden", input={"people": people})
    advance(code, run)
    answer(code, run, list(run.interrupts)[1], "hello from Grace")
    return run


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_run_stored_by_any_version_goes_on_to_the_same_end(version: int) -> None:
    code = program()
    run = load_run((GOLDEN / f"run_v{version}.json").read_bytes())
    assert run.status == "interrupted"
    for reply in ("hello from Ada", "hello from Edsger"):
        answer(code, run, next(iter(run.interrupts)), reply)
    assert run.status == "completed"
    assert run.output == {
        "seen": ["Ada #0", "Grace #1", "Edsger #2"],
        "replies": ["hello from Ada", "hello from Grace", "hello from Edsger"],
        "odd": [10**30, 1.0, -0.5, "é𝄞\u0000", None, {"": []}],
    }


def test_the_newest_golden_file_is_what_is_written_now() -> None:
    """Where this fails the stored form has changed: it needs a new version, an upgrade step and a new golden file."""
    assert dump_run(paused()) == (GOLDEN / f"run_v{VERSION}.json").read_bytes()
