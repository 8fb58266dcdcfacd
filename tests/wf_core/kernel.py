"""Driving the kernel in tests: small plans, fake capabilities, and a driver that plays the outside world.

A fake takes the call's input and gives the output, a `Reply` with another outcome, or raises `Failed`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from wf_core.calls.contract import Contract, Hints
from wf_core.calls.policy_data import read_policy
from wf_core.codec import dump_run, load_run
from wf_core.runtime import (
    Answer,
    CallFailure,
    Invocation,
    Program,
    Ready,
    Stopped,
    Waiting,
    compile_program,
    start,
)
from wf_core.runtime.inputs import (
    Cancel,
    Complete,
    Doubt,
    Expire,
    Fail,
    Input,
    NextWork,
    PutOff,
    Recover,
    Resume,
    Settle,
    apply,
)
from wf_core.runtime.work import Settlement
from wf_core.state import RunState

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
END = "__end__"
BREAK = "__break__"

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """A result with an outcome of its own."""

    outcome: str
    output: Any = None


class Failed(Exception):
    """An attempt that gives no result."""

    def __init__(self, code: str = "capability_error", message: str = "broken", *, executed: bool = True) -> None:
        super().__init__(message)
        self.failure = CallFailure(code, message, executed=executed)


Fake = Callable[[Json], Any]


def echo(given: Json) -> Any:
    """Give back what came in."""
    return given


def breaks(given: Json) -> Any:
    """Fail with the text that came in."""
    raise Failed(message=str(given.get("value", "broken")))


def picky(given: Json) -> Any:
    """Give back what came in, but fail for a value that starts with `bad`."""
    return breaks(given) if str(given["value"]).startswith("bad") else given


FAKES: Mapping[str, Fake] = {"t.echo": echo, "t.breaks": breaks, "t.picky": picky}

SLEEP = Contract(
    input_schema={
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 0}},
        "required": ["seconds"],
    },
    hints=Hints(read_only=True, idempotent=True, destructive=False),
    deferred=True,
)
READ_ONLY = Contract(hints=Hints(read_only=True, idempotent=True, destructive=False))
IDEMPOTENT = Contract(hints=Hints(idempotent=True))
WITH_ERROR = Contract(outcomes=("ok", "error"))


def path(text: str) -> Json:
    return {"path": text}


def value(literal: Any) -> Json:
    return {"value": literal}


def node(use: str | Json = "t.echo", to: str = END, **more: Any) -> Json:
    """Write a node step; its outcome `ok` leads to `to`."""
    return {"type": "node", "use": use, "routes": {"ok": to}, **more}


def put(target: str, source: Json, to: str = END) -> Json:
    """Write a node step that writes one value to state."""
    return node(to=to, input={"value": source}, output={target: "value"})


def ask(to: str = END, **more: Any) -> Json:
    """Write an interrupt step; its outcome `submitted` leads to `to`."""
    return {"type": "interrupt", "kind": "question", "routes": {"submitted": to}, **more}


def check(question: Json, yes: str, no: str = END) -> Json:
    return {"type": "condition", "check": question, "routes": {"true": yes, "false": no}}


def loop(body: str, over: str = "input.items", to: str = END, **more: Any) -> Json:
    """Write a serial foreach step over `input.items`, whose items are `context.x`."""
    routes = {"loop": body, "done": to, **more.pop("routes", {})}
    return {"type": "foreach", "over": over, "as": "x", "routes": routes, **more}


def each(body: str, over: str = "input.items", to: str = END, **more: Any) -> Json:
    """Write a concurrent foreach step over `input.items`, whose items are `context.x`."""
    return loop(body, over, to, mode="concurrent", **more)


def parallel(branches: Json, to: str = END) -> Json:
    """Write a parallel step from the names of its branches and their first steps."""
    return {"type": "parallel", "branches": branches, "routes": {"done": to}}


def child(plan: Json, to: str = END, **more: Any) -> Json:
    """Write a subgraph step with its plan in place; the outcome `ok` leads to `to`."""
    return {"type": "subgraph", "workflow": {"plan": plan}, "routes": {"ok": to}, **more}


def plan(steps: Json, state: Json | None = None, **more: Any) -> Json:
    """Write a plan that starts at its first step; `state` holds the properties of the state schema."""
    schema = {"type": "object", "properties": state or {}}
    return {"name": "plan", "start": next(iter(steps)), "state_schema": schema, "steps": steps, **more}


LIST: Json = {"type": "array", "default": [], "reducer": "append"}


@dataclass
class Driver:
    """Plays the outside for one run. Nothing happens by itself: `go`, or `look` and `deliver`, move it."""

    program: Program
    run: RunState
    fakes: Mapping[str, Fake]
    now: datetime = NOW
    reloading: bool = False
    """Dump and load the run after every transition."""
    pending: dict[str, Invocation] = field(default_factory=dict[str, Invocation])
    made: list[Invocation] = field(default_factory=list[Invocation])
    """Every call that was asked for, in order."""
    raw_trace: list[bytes] = field(default_factory=list[bytes])
    journal: list[tuple[int, Input, list[bytes]]] = field(default_factory=list[tuple[int, Input, list[bytes]]])
    """Every input that was taken: the position that it led to, it, and the trace entries that it made."""
    states: list[bytes] | None = None
    """The run after each input, as it is stored; None where nobody asks for them."""
    most_pending: int = 0

    @property
    def trace(self) -> list[Json]:
        return [json.loads(entry) for entry in self.raw_trace]

    @property
    def inputs(self) -> list[Json]:
        """The input of every call that was asked for, in order."""
        return [call.input for call in self.made]

    def look(self) -> Ready | Waiting | Stopped:
        """Ask once what is to do."""
        work = self.take(NextWork(self.now))
        if isinstance(work, Ready):
            self.pending |= {call.call_id: call for call in work.calls}
            self.made += work.calls
            self._forget_ended()
            self.most_pending = max(self.most_pending, len(self.pending))
        if work is None:
            raise AssertionError
        return work

    def deliver(self, call_id: str | None = None, act: Callable[[Invocation], Any] | None = None) -> None:
        """Carry out a pending call, the oldest if none is named, and hand its result over."""
        call = self.pending.pop(call_id or next(iter(self.pending)))
        try:
            result = act(call) if act else self.fakes[call.capability](call.input)
        except Failed as failed:
            self.take(Fail(self.now, call.call_id, failed.failure, 0.0))
        else:
            reply = result if isinstance(result, Reply) else Reply("ok", result)
            self.take(Complete(self.now, call.call_id, reply.outcome, reply.output))

    def go(self, choose: Callable[[Sequence[str]], str] = lambda pending: pending[0]) -> RunState:
        """Go on until the run stops. `choose` says which pending call ends first; waiting passes in no time."""
        while True:
            work = self.look()
            if isinstance(work, Stopped):
                return self.run
            if self.pending:
                self.deliver(choose(list(self.pending)))
            elif isinstance(work, Waiting):
                assert work.until is not None
                self.now = max(self.now, work.until)

    def answer(self, payload: Any = None, interrupt_id: str | None = None, **more: Any) -> None:
        """Answer an open question, without going on."""
        answer = Answer(payload={} if payload is None else payload, interrupt_id=interrupt_id, **more)
        self.take(Resume(self.now, answer))

    def crash(self) -> None:
        """Let another process take the run over: what was in flight is answered by nobody."""
        self.pending.clear()
        self.run = load_run(dump_run(self.run))
        self.take(Recover(self.now))

    def cancel(self, reason: str | None) -> None:
        """End the run."""
        self.take(Cancel(self.now, reason))

    def settle(self, call_id: str, kind: Literal["completed", "failed", "retry", "approved"], **more: Any) -> None:
        """Say something of a call that waits, without going on."""
        self.take(Settle(self.now, call_id, Settlement(kind, **more)))

    def put_off(self, call_id: str, awaits: Literal["isolated", "callee"] = "callee", reason: str = "busy") -> None:
        """Let a pending call wait for a word from outside."""
        del self.pending[call_id]
        self.take(PutOff(self.now, call_id, awaits, reason))

    def doubt(self, call_id: str, reason: str) -> None:
        """Let a call lose its callee."""
        self.take(Doubt(self.now, call_id, reason))

    def expire(self) -> None:
        """Let the calls fail that waited too long."""
        self.take(Expire(self.now))

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def take(self, given: Input) -> Ready | Waiting | Stopped | None:
        """Give the run an input."""
        work = apply(self.program, self.run, given)
        made = self.run.take_trace()
        self.journal.append((self.run.position, given, made))
        self.raw_trace += made
        if self.states is not None:
            self.states.append(dump_run(self.run))
        if self.reloading:
            self.run = load_run(dump_run(self.run))
        self._forget_ended()
        return work

    def _forget_ended(self) -> None:
        self.pending = {call_id: call for call_id, call in self.pending.items() if call_id in self.run.calls}


def begin(
    document: Json,
    given: Any = None,
    *,
    fakes: Mapping[str, Fake] | None = None,
    contracts: Mapping[str, Contract] | None = None,
    children: Mapping[tuple[str, int], Json] | None = None,
    policy: Json | None = None,
    reloading: bool = False,
) -> Driver:
    """Start a run of a plan. Capabilities that no contract is given for have the contract that says least."""
    known = {**FAKES, **(fakes or {})}
    promised = {**dict.fromkeys(known, Contract()), "t.sleep": SLEEP, **(contracts or {})}
    decided = None if policy is None else read_policy(policy)
    program = compile_program(document, contracts=promised, children=children, policy=decided)
    run = start(program, run_id="run_test", input={} if given is None else given)
    return Driver(program, run, known, reloading=reloading)


def finish(document: Json, given: Any = None, **more: Any) -> RunState:
    """Run a plan until it stops."""
    return begin(document, given, **more).go()


def output_of(run: RunState) -> Any:
    """Give the output of a completed run."""
    assert run.status == "completed", run.error
    return run.output


def error_of(run: RunState) -> tuple[str, str | None]:
    """Give the code and the step of a failed run's error."""
    assert run.status == "failed"
    assert run.error is not None
    return run.error.code, run.error.step_id
