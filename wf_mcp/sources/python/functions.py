"""One decorated function as a capability."""

import asyncio
import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from wf_artifacts.sources.models import Capability, contract_digest
from wf_core.calls.capability import CallContext, CapabilityMark, Outcome, mark_of
from wf_core.calls.contract import CAPABILITY_ERROR, ERROR_OUTCOME, Contract, JsonSchema
from wf_core.ids import is_id
from wf_core.jsonvalue import JsonValue
from wf_core.schemas import schema_issues
from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import take_in
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.loops import LoopThread
from wf_mcp.sources.protocol import CallResult, Diagnostic
from wf_mcp.sources.python.faults import describe, kind_of
from wf_mcp.sources.python.hints import UnusableFunction, read_hints
from wf_mcp.sources.python.parameters import Parameters, read_parameters
from wf_mcp.sources.python.returns import Returns, read_returns, undeclared_output
from wf_mcp.sources.threads import CancelledByItself, ThreadedWork


@dataclass(frozen=True, slots=True)
class PythonCapability:
    """A decorated function and what was read from it."""

    capability: Capability
    _function: Callable[..., Any]
    _parameters: Parameters
    _returns: Returns

    async def call(
        self, input: Mapping[str, JsonValue], context: CallContext, redactor: Redactor, coroutines: LoopThread
    ) -> CallResult:
        """Call the function: a synchronous one in a thread of its own, an asynchronous one among the `coroutines`.

        Nothing that is the user's runs here, converting and describing values included: it may block or raise anything.
        What still runs when the caller is cancelled is told to stop, and left behind.

        Raises:
            CallFailed: the input does not fit (`input_invalid`, not executed), the function raised
                (`capability_error`), or what it returned is no JSON or does not fit its hint (`output_invalid`).
        """

        def begin() -> Any:
            with _told(redactor):
                value = self._begin(input, context, redactor)
                return value if inspect.isawaitable(value) else self._result(value, redactor)

        async def end(begun: Any) -> CallResult:
            with _told(redactor):
                return self._result(await begun, redactor)

        async def whole() -> CallResult:
            begun: Any = begin()
            return begun if type(begun) is CallResult else await end(begun)

        try:
            if inspect.iscoroutinefunction(self._function):
                return await coroutines.run(whole)
            begun: Any = await ThreadedWork(begin, name=self.capability.full_name).result()
            # By its type alone: `isinstance` would ask an object of the user's.
            return begun if type(begun) is CallResult else await coroutines.run(lambda: end(begun))
        except CancelledByItself as exc:
            raise _failed(exc, redactor) from exc

    def _begin(self, input: Mapping[str, JsonValue], context: CallContext, redactor: Redactor) -> Any:
        try:
            positional, named = self._parameters.arguments(input, context)
        except CallFailed:
            raise
        except BaseException as exc:  # noqa: BLE001  # validators in a hint are user code
            raise CallFailed("input_invalid", describe(exc, redactor), executed=False) from None
        return self._function(*positional, **named)

    def _result(self, value: Any, redactor: Redactor) -> CallResult:
        outcomes = self.capability.contract.outcomes
        outcome, payload = (_text(value.name), value.output) if isinstance(value, Outcome) else (outcomes[0], value)
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
    functions = {id(value): (value, mark) for value in vars(module).values() if (mark := _mark(value)) is not None}
    for function, mark in functions.values():
        name = mark.name or getattr(function, "__name__", type(function).__name__)
        try:
            if name in offered:
                raise UnusableFunction("another function has this name")
            offered[name] = read_function(source, name, function, mark, redactor)
        except UnusableFunction as exc:
            reason = redactor.text(str(exc))
        except BaseException as exc:  # noqa: BLE001  # hints are user code: only this function goes without
            reason = describe(exc, redactor)
        else:
            continue
        message = redactor.text(f"{source}.{name} is not offered: {reason}.")
        diagnostics.append(Diagnostic("error", "invalid_capability", message))
    return offered, diagnostics


def read_function(
    source: str, name: str, function: Callable[..., Any], mark: CapabilityMark, redactor: Redactor
) -> PythonCapability:
    """Read a decorated function's contract. Default values and descriptions may hold secrets: what is told does not.

    Raises:
        UnusableFunction: it has none; the text says why.
    """
    if not is_id(name):
        raise UnusableFunction("the name may hold letters, digits, '.', '_' and '-' only")
    if redactor.text(name) != name or any(redactor.text(outcome) != outcome for outcome in mark.outcomes):
        raise UnusableFunction("its name or an outcome holds a secret")
    if not inspect.isroutine(function):
        raise UnusableFunction("only functions can be capabilities")
    hints = read_hints(function)
    parameters = read_parameters(function, hints)
    returns = read_returns(hints.get("return", Any))
    for schema in (parameters.schema, returns.schema):
        if issues := schema_issues(schema):
            raise UnusableFunction(f"its schema cannot be used: {issues[0].message}")
    taken, answered = (cast("JsonSchema", redactor.json(schema)) for schema in (parameters.schema, returns.schema))
    contract = Contract(taken, answered, mark.outcomes, mark.hints)
    title = name.replace("_", " ").capitalize()
    description = redactor.text(inspect.getdoc(function) or "")
    capability = Capability(source, name, title, description, contract, digest=contract_digest(contract))
    return PythonCapability(capability, function, parameters, returns)


@contextmanager
def _told(redactor: Redactor) -> Generator[None, None, None]:
    """Give whatever user code raises as a failed call: `SystemExit` and the like end the call, not the server."""
    try:
        yield
    except (CallFailed, asyncio.CancelledError):
        raise
    except BaseException as exc:  # noqa: BLE001  # and none is passed on: showing it would run user code again
        raise _failed(exc, redactor) from None


def _failed(error: BaseException, redactor: Redactor) -> CallFailed:
    details = {"type": kind_of(error)}
    return CallFailed(CAPABILITY_ERROR, describe(error, redactor), executed=True, details=details)


def _text(name: Any) -> str:
    """Give the name of an outcome as plain text, also where it is a member of an enum."""
    return str.__str__(name) if isinstance(name, str) else repr(name)


def _mark(value: object) -> CapabilityMark | None:
    try:
        return mark_of(value)
    except BaseException:  # noqa: BLE001  # `__getattr__` is user code
        return None
