"""Asking a person on the terminal the question at which a run stopped."""

from dataclasses import dataclass
from typing import Any

import typer

from wf_core.errors import AmbiguousInterrupt, PersonRequired, RunNotInterrupted, StaleInterrupt
from wf_core.jsonvalue import JsonValue
from wf_mcp.cli.documents import parse
from wf_mcp.cli.output import console
from wf_mcp.cli.visible import visible
from wf_mcp.operations.models import InterruptView, RunSummary


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person answered."""

    outcome: str
    payload: JsonValue
    interrupt_id: str | None


def choose(run: RunSummary, interrupt_id: str | None) -> InterruptView:
    """Find the question to ask: the named one, or the only one.

    Raises:
        RunNotInterrupted, StaleInterrupt, AmbiguousInterrupt: there is no such question, or more than one.
    """
    asked = [question for question in run.interrupts if interrupt_id in (None, question.id)]
    if len(asked) == 1:
        return asked[0]
    if interrupt_id is not None:
        raise StaleInterrupt(f"The question {interrupt_id} is not open.", hint=f"wf runs show {run.run_id}")
    if not asked:
        raise RunNotInterrupted(f"The run asks nothing: it is {run.status}.")
    names = ", ".join(question.id for question in asked)
    raise AmbiguousInterrupt(f"{len(asked)} questions are open: {names}.", hint="Name one with --interrupt.")


def answer(question: InterruptView) -> Reply:
    """Let the person choose an outcome of a question, and fill in what its schema asks for.

    Raises:
        PersonRequired: nobody is there, or whoever is does not want to answer.
    """
    try:
        outcome = _choose_outcome(question.outcomes)
        schema = question.outcome_schemas.get(outcome, question.resume_schema)
        return Reply(outcome, _fill_in(schema), question.id)
    except (EOFError, typer.Abort) as error:
        raise PersonRequired("Nobody answered.", hint="The run waits; answer it whenever you like.") from error


def _choose_outcome(outcomes: list[str]) -> str:
    """Ask until one of the outcomes is typed, as it is shown."""
    shown = {visible(outcome).strip(): outcome for outcome in outcomes}
    while (given := typer.prompt(f"your answer [{'/'.join(shown)}]", err=True).strip()) not in shown:
        console(stderr=True).print("Type one of these words.")
    return shown[given]


def _fill_in(schema: dict[str, Any] | bool) -> JsonValue:
    """Ask for each property of an object; anything else is asked for as JSON."""
    if schema is True or schema == {}:
        return {}
    if schema is False or schema.get("type", "object") != "object":
        return parse(typer.prompt("Answer (JSON)", err=True), name="answer")
    payload: dict[str, JsonValue] = {}
    for name, field in schema.get("properties", {}).items():
        described: dict[str, Any] = {} if isinstance(field, bool) else field
        required = name in schema.get("required", [])
        given: str = typer.prompt(
            _label(name, described, required=required), default=None if required else "", show_default=False, err=True
        )
        if required or given:
            payload[name] = given if described.get("type") == "string" else parse(given, name=name)
    return payload


def _label(name: str, field: dict[str, Any], *, required: bool) -> str:
    notes = [str(field["description"])] if "description" in field else []
    notes += [] if required else ["optional"]
    return visible(f"{name} ({', '.join(notes)})" if notes else name)
