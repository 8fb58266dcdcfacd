"""What a step of a plan does, in a few words."""

from typing import assert_never

from wf_core.plan.bindings import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.plan.conditions import Compare, Condition, Exists, Logic, Not
from wf_core.plan.steps import (
    CollectErrors,
    ConditionStep,
    EndStep,
    ForeachStep,
    InterruptStep,
    JoinStep,
    NodeStep,
    ParallelStep,
    Step,
    SubgraphStep,
)
from wf_mcp.cli.visible import exact_json

_SYMBOLS = {"eq": "=", "ne": "≠", "gt": ">", "ge": "≥", "lt": "<", "le": "≤", "in": "in", "matches": "matches"}


def describe(step: Step) -> str:
    """Say in a few words what a step does."""
    match step:
        case NodeStep():
            return str(step.use)
        case ConditionStep():
            return f"if {_question(step.check)}"
        case InterruptStep():
            return f"asks: {step.kind}" + (", a person answers" if step.answered_by == "person" else "")
        case JoinStep():
            return "join"
        case EndStep():
            return f"ends: {step.outcome}"
        case ForeachStep():
            return f"for each {step.as_} of {step.over}, {_pace(step)}"
        case ParallelStep():
            return f"at once: {', '.join(step.branches)}"
        case SubgraphStep():
            child = step.workflow
            return f"runs {child.artifact_id} {child.version}" if child.artifact_id else "runs the plan inside it"
        case _:
            assert_never(step)


def _pace(step: ForeachStep) -> str:
    pace = "one by one" if step.mode == "serial" else f"{step.max_active} at once"
    match step.on_item_error:
        case "fail":
            return pace
        case "skip":
            return f"{pace}, failed ones are skipped"
        case CollectErrors(collect_to=target):
            return f"{pace}, failed ones go to {target}"


def _question(check: Condition) -> str:
    match check:
        case Exists():
            return f"{check.path} exists"
        case Not():
            return f"not ({_question(check.arg)})"
        case Logic():
            return f" {check.op} ".join(f"({_question(arg)})" for arg in check.args)
        case Compare():
            return f"{_value(check.left)} {_SYMBOLS[check.op]} {_value(check.right)}"
        case _:
            assert_never(check)


def _value(expression: Expression) -> str:
    match expression:
        case PathExpression():
            return expression.path
        case ValueExpression():
            return exact_json(expression.value, indent=None)
        case TemplateExpression():
            return exact_json(expression.template, indent=None)
        case ObjectExpression():
            return "{…}"
        case ArrayExpression():
            return "[…]"
        case _:
            assert_never(expression)
