"""Short ways to write the plans of the stories."""

from typing import Any

ANSWER: dict[str, Any] = {"type": "object", "properties": {"reply": {"type": "string"}}, "required": ["reply"]}


def plan(name: str, **steps: Any) -> dict[str, Any]:
    """A plan whose steps run from the first; every state field `result` becomes the output."""
    return {
        "name": name,
        "state_schema": {"type": "object", "properties": {"result": {}}},
        "output_schema": {"type": "object", "properties": {"result": {}}},
        "start": next(iter(steps)),
        "steps": steps,
    }


def node(use: str, *, to: str = "__end__", result: str | None = None, **given: Any) -> dict[str, Any]:
    """Call a capability with literal inputs; keep its output at `result`."""
    step: dict[str, Any] = {"type": "node", "use": use, "input": literal(given), "routes": {"ok": to}}
    return step if result is None else {**step, "output": {"state.result": result}}


def ask(*, to: str = "__end__", **options: Any) -> dict[str, Any]:
    """Stop for a reply, and keep it as the result."""
    question = {"type": "interrupt", "kind": "question", "resume_schema": ANSWER, "resume": {"state.result": "reply"}}
    return {**question, "routes": {"submitted": to}, **options}


def literal(given: dict[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in given.items()}
