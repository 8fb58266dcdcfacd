"""Checks the questions of condition steps."""

from wf_core.errors import InvalidSchema
from wf_core.plan import Compare, Condition, Exists, Logic, Not, ValueExpression
from wf_core.schemas import compile_pattern
from wf_core.validation.bindings import MAX_NESTING, Scope, check_expression, check_path
from wf_core.validation.report import Findings


def check_condition(condition: Condition, scope: Scope, found: Findings) -> None:
    pending: list[tuple[Condition, Findings, int]] = [(condition, found, 1)]
    while pending:
        inner, here, depth = pending.pop()
        if depth > MAX_NESTING:
            here.error("invalid_type", f"Conditions nest deeper than {MAX_NESTING} levels here.")
            continue
        match inner:
            case Exists(path=path):
                check_path(path, scope, here.at("path"))
            case Not(arg=arg):
                pending.append((arg, here.at("arg"), depth + 1))
            case Logic(args=args):
                pending += [(arg, here.at("args", index), depth + 1) for index, arg in enumerate(args)]
            case Compare():
                check_expression(inner.left, scope, here.at("left"))
                check_expression(inner.right, scope, here.at("right"))
                _check_pattern(inner, here.at("right", "value"))


def _check_pattern(compare: Compare, found: Findings) -> None:
    """Report a pattern that is written in place and cannot be matched."""
    if compare.op == "matches" and isinstance(compare.right, ValueExpression) and isinstance(compare.right.value, str):
        try:
            compile_pattern(compare.right.value)
        except InvalidSchema as error:
            found.error("invalid_schema", error.message, error.hint)
