"""One decorated function as a capability."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import anyio

from wf_artifacts.sources.models import Capability, contract_digest
from wf_core.calls.capability import CallContext, CapabilityMark, Outcome, mark_of
from wf_core.calls.contract import ERROR_OUTCOME, Contract
from wf_core.ids import is_id
from wf_core.jsonvalue import JsonValue
from wf_core.schemas import schema_issues
from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import take_in
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult, Diagnostic
from wf_mcp.sources.python.faults import describe
from wf_mcp.sources.python.hints import UnusableFunction, read_hints
from wf_mcp.sources.python.parameters import Parameters, read_parameters
from wf_mcp.sources.python.returns import Returns, read_returns, undeclared_output
from wf_mcp.sources.threads import ThreadedWork


@dataclass(frozen=True, slots=True)
class PythonCapability:
    """A decorated function and what was read from it."""

    capability: Capability
    _function: Callable[..., Any]
    _parameters: Parameters
    _returns: Returns

    async def call(self, input: Mapping[str, JsonValue], context: CallContext, redactor: Redactor) -> CallResult:
        """Call the function, a synchronous one in a thread of its own that is left behind when the caller is cancelled.

        Raises:
            CallFailed: the input does not fit (`input_invalid`, not executed), the function raised
                (`capability_error`), or what it returned is no JSON or does not fit its hint (`output_invalid`).
        """
        try:
            positional, named = self._parameters.arguments(input, context)
        except CallFailed:
            raise
        except Exception as exc:  # validators in a hint are user code
            raise CallFailed("input_invalid", describe(exc, redactor), executed=False) from exc
        try:
            value = await self._run(positional, named)
            return self._result(value, redactor)
        except CallFailed:
            raise
        except BaseException as exc:
            # SystemExit and the like end the call, not the server. A cancellation goes on its way, unless it is one
            # that the function raised by itself while nobody had cancelled the caller.
            if isinstance(exc, anyio.get_cancelled_exc_class()) and _is_cancelled():
                raise
            message = describe(exc, redactor)
            raise CallFailed("capability_error", message, executed=True, details={"type": type(exc).__name__}) from exc

    async def _run(self, positional: list[Any], named: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(*positional, **named)

        def work() -> Any:
            return self._function(*positional, **named)

        value = await ThreadedWork(work, name=self.capability.full_name).result()
        return await value if inspect.isawaitable(value) else value

    def _result(self, value: Any, redactor: Redactor) -> CallResult:
        outcomes = self.capability.contract.outcomes
        outcome, payload = (value.name, value.output) if isinstance(value, Outcome) else (outcomes[0], value)
        if outcome not in outcomes:
            raise CallFailed(
                "output_invalid",
                f"{self.capability.full_name} answered with the outcome {outcome!r}, which it does not declare.",
                executed=True,
                details={"outcome": outcome, "outcomes": list(outcomes)},
            )
        if isinstance(value, Outcome) and payload is None:
            payload = {}
        output = undeclared_output(payload) if outcome == ERROR_OUTCOME else self._returns.output(payload)
        return CallResult(outcome, take_in(output, redactor))


def read_module(
    source: str, module: ModuleType, redactor: Redactor
) -> tuple[dict[str, PythonCapability], list[Diagnostic]]:
    """Give the capabilities that a module offers, by name, and why a decorated function is none."""
    offered: dict[str, PythonCapability] = {}
    diagnostics: list[Diagnostic] = []
    # A function with a second name in the module is still one capability.
    functions = {id(value): value for value in vars(module).values() if mark_of(value) is not None}
    for function in functions.values():
        mark = mark_of(function)
        assert mark is not None  # noqa: S101
        name = mark.name or function.__name__
        try:
            if name in offered:
                raise UnusableFunction("another function has this name")
            offered[name] = read_function(source, name, function, mark)
        except UnusableFunction as exc:
            message = f"{source}.{name} is not offered: {redactor.text(str(exc))}."
            diagnostics.append(Diagnostic("error", "invalid_capability", message))
    return offered, diagnostics


def read_function(source: str, name: str, function: Callable[..., Any], mark: CapabilityMark) -> PythonCapability:
    """Read a decorated function's contract.

    Raises:
        UnusableFunction: it has none; the text says why.
    """
    if not is_id(name):
        raise UnusableFunction("the name may hold letters, digits, '.', '_' and '-' only")
    if not inspect.isroutine(function):
        raise UnusableFunction("only functions can be capabilities")
    hints = read_hints(function)
    parameters = read_parameters(function, hints)
    returns = read_returns(hints.get("return", Any))
    for schema in (parameters.schema, returns.schema):
        if issues := schema_issues(schema):
            raise UnusableFunction(f"its schema cannot be used: {issues[0].message}")
    contract = Contract(parameters.schema, returns.schema, mark.outcomes, mark.hints)
    title = name.replace("_", " ").capitalize()
    capability = Capability(
        source, name, title, inspect.getdoc(function) or "", contract, digest=contract_digest(contract)
    )
    return PythonCapability(capability, function, parameters, returns)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and (task.cancelling() > 0 or anyio.get_current_task().has_pending_cancellation())
