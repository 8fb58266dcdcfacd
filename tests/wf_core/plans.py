"""Any plan: Hypothesis writes valid ones of every step type, nested in each other, and says how the outside behaves.

A plan is written from its end to its start, so that each block knows where it leads. Every workflow has the same state
fields, one for each reducer, and every result has the same parts: what may be written where is a matter of types.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.wf_core.kernel import BREAK, END, SLEEP, Failed, Json, Reply, path, value
from wf_core.calls.contract import Contract, Hints

PARTS: Json = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "list": {"type": "array"}, "object": {"type": "object"}, "any": {}},
    "required": ["number", "list", "object", "any"],
}
"""What every capability, answer and child gives."""

CONTRACTS = {
    "t.make": Contract(output_schema=PARTS),
    "t.read": Contract(output_schema=PARTS, hints=Hints(read_only=True, idempotent=True)),
    "t.pick": Contract(output_schema=PARTS, outcomes=("a", "b")),
    "t.risky": Contract(output_schema=PARTS, outcomes=("ok", "error")),
    "t.sleep": SLEEP,
}

STATE: Json = {
    "n": {"type": "integer", "default": 0, "reducer": "add"},
    "turns": {"type": "integer", "default": 0, "reducer": "add"},
    "log": {"type": "array", "default": [], "reducer": "append"},
    "ext": {"type": "array", "default": [], "reducer": "extend"},
    "set": {"type": "array", "reducer": "set_union"},
    "hi": {"type": "number", "reducer": "max"},
    "lo": {"reducer": "min"},
    "obj": {"type": "object", "reducer": "merge_object"},
    "o": {
        "type": "object",
        "properties": {
            "list": {"type": "array", "default": [], "reducer": "append"},
            "n": {"type": "integer", "reducer": "add"},
            "plain": {},
        },
    },
    "plain": {},
    "errors": {"type": "array", "default": [], "reducer": "append"},
}

TAKES = {
    "number": ["n", "hi", "lo", "log", "o.n", "o.list"],
    "list": ["ext", "set", "log", "o.list"],
    "object": ["obj", "log", "o.list"],
    "any": ["log", "o.list"],
}
"""Part of a result -> fields that items of a concurrent loop may all write it to."""

ALONE = ["plain", "o.plain"]
"""Fields that only one may write."""

LEAVES: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, 1, 1.0, -2.5, 2**70, "", "text", "é\u0000", "input.x"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b c"]), inner, max_size=2),
    max_leaves=4,
)
INPUTS = st.fixed_dictionaries(
    {"items": st.lists(LEAVES, max_size=3), "rows": st.lists(st.lists(LEAVES, max_size=2), max_size=3), "x": VALUES}
)

_DEFER: Json = {"tag": "defer", "reason": "elsewhere"}
HOW: list[Json] = [
    _DEFER,
    {**_DEFER, "approval": True},
    {**_DEFER, "expiresSeconds": 30},
    {"tag": "runIsolated"},
    {"tag": "decorate", "decorators": [{"tag": "withLabel", "text": "odd"}], "inner": _DEFER},
    {"tag": "runAsync"},
]
"""How a policy may want a call carried out."""

LASTING: list[Json] = [how for how in HOW if "expiresSeconds" not in how]


def policies(how: list[Json] = HOW) -> st.SearchStrategy[Json]:
    """Write call policies: by full names, by bare ones, and by globs."""
    rule = st.fixed_dictionaries(
        {"tool": st.sampled_from(["t.make", "read", "*ick", "t.r*"]), "disposition": st.sampled_from(how)}
    )
    return st.fixed_dictionaries({"rules": st.lists(rule, max_size=3)})


@dataclass(frozen=True)
class Where:
    """What is around a block."""

    loops: tuple[tuple[str, bool], ...] = ()
    """Names of the items, the outermost first, and whether the item is a list."""
    concurrent: bool = False
    branch: bool = False
    """Inside a branch of a parallel step, so that the workflow cannot end here."""
    serial: bool = False
    """The innermost loop is serial, so that a break may leave it."""
    plans: int = 0


@dataclass
class Writer:
    """Writes one workflow."""

    draw: DrawFn
    safe: bool
    """Nothing in the plan can fail by itself."""
    budget: list[int]
    """Steps that may be written still; shared with the workflows inside."""
    steps: Json = field(default_factory=dict[str, Any])

    def one_of(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def add(self, kind: str, step: Json) -> str:
        step_id = f"{kind}{len(self.steps)}"
        self.steps[step_id] = step
        self.budget[0] -= 1
        return step_id

    def block(self, after: str, where: Where) -> str:
        """Write some steps that lead to `after`, and give the first."""
        for _ in range(self.draw(st.integers(1, 3))):
            after = self.statement(after, where)
        return after

    def statement(self, after: str, where: Where) -> str:
        kinds: list[Callable[[str, Where], str]] = [self.call, self.call, self.join, self.sleep, self.ask, self.risk]
        if self.budget[0] > 0:
            kinds += [self.fork, self.pick, self.turns]
            kinds += [self.loop] * (3 if len(where.loops) < 3 else 0)
            kinds += [self.parallel]
            kinds += [self.child] * (2 if where.plans < 2 else 0)
        return self.one_of(*kinds)(after, where)

    # Steps

    def call(self, after: str, where: Where) -> str:
        use = self.one_of("t.make", "t.read")
        step = {"use": use, "input": self.inputs(where), "output": self.output(where), "routes": {"ok": after}}
        return self.add("call", {"type": "node", **step})

    def risk(self, after: str, where: Where) -> str:
        step = {"type": "node", "use": "t.risky", "input": self.inputs(where), "output": self.output(where)}
        step["routes"] = {"ok": after} | ({"error": after} if self.chance(50) else {})
        if self.chance(40):
            on = self.one_of("any", "not_executed")
            step["retry"] = {
                "max_attempts": self.one_of(1, 2, 4),
                "initial_delay_seconds": self.one_of(0, 1, 5),
                "on": on,
            }
        if self.chance(30):
            step["error_output"] = {"state.log": "message"}
        return self.add("risk", step)

    def pick(self, after: str, where: Where) -> str:
        routes = {"a": self.block(after, where), "b": after}
        step = {"use": "t.pick", "input": self.inputs(where), "output": self.output(where), "routes": routes}
        return self.add("pick", {"type": "node", **step})

    def sleep(self, after: str, where: Where) -> str:
        seconds = value(self.one_of(0, 1, 7.5))
        return self.add(
            "sleep", {"type": "node", "use": "t.sleep", "input": {"seconds": seconds}, "routes": {"ok": after}}
        )

    def join(self, after: str, where: Where) -> str:
        return self.add("join", {"type": "join", "routes": {"ok": after}})

    def ask(self, after: str, where: Where) -> str:
        routes = {"submitted": after, "other": after}
        if self.chance(30) and self.budget[0] > 0:
            routes["other"] = self.block(after, where)
        step = {"kind": "question", "request": self.inputs(where), "resume": self.output(where), "routes": routes}
        step |= {"outcomes": ["submitted", "other"], "resume_schema": PARTS}
        return self.add("ask", {"type": "interrupt", **step})

    def fork(self, after: str, where: Where) -> str:
        if where.serial and self.chance(40):
            other = BREAK
        elif not where.loops and not where.branch and self.chance(30):
            other = self.add("end", {"type": "end", "outcome": self.one_of("ok", "alt")})
        else:
            other = self.block(after, where)
        routes = {"true": other, "false": after}
        return self.add("if", {"type": "condition", "check": self.question(where, 2), "routes": routes})

    def turns(self, after: str, where: Where) -> str:
        """Write a cycle that is gone through until `state.turns` has grown enough."""
        again = f"if{len(self.steps)}"
        self.steps[again] = {}
        step = {"input": {"x": value(1)}, "output": {"state.turns": "one"}, "routes": {"ok": again}}
        turn = self.add("turn", {"type": "node", "use": "t.make", **step})
        body = self.block(turn, where) if self.chance(50) else turn
        more = {"op": "lt", "left": path("state.turns"), "right": value(self.one_of(1, 2))}
        self.steps[again] = {"type": "condition", "check": more, "routes": {"true": body, "false": after}}
        return again

    def loop(self, after: str, where: Where) -> str:
        name = self.one_of(*"xyz")
        over, lists = self.one_of(*self.arrays(where))
        concurrent = self.chance(60)
        inside = replace(
            where,
            loops=(*(one for one in where.loops if one[0] != name), (name, lists)),
            concurrent=where.concurrent or concurrent,
            serial=not concurrent,
        )
        # The body is written under an id that nothing can lead back to.
        body = self.block(END, inside)
        policy = self.one_of("fail", "skip", {"collect_to": "state.errors"})
        step = {"over": over, "as": name, "on_item_error": policy, "routes": {"loop": body, "done": after}}
        if concurrent:
            step |= {"mode": "concurrent", "max_active": self.one_of(1, 2, 4)}
        if self.chance(30):
            step["routes"]["completed_with_errors"] = self.join(after, where)
        return self.add("each", {"type": "foreach", **step})

    def parallel(self, after: str, where: Where) -> str:
        inside = replace(where, concurrent=True, serial=False, branch=True)
        names = self.draw(st.lists(st.sampled_from(["left", "right", "x"]), min_size=1, unique=True))
        branches = {name: self.block(END, inside) if self.chance(80) else END for name in names}
        return self.add("split", {"type": "parallel", "branches": branches, "routes": {"done": after}})

    def child(self, after: str, where: Where) -> str:
        inner = Writer(self.draw, self.safe, self.budget)
        plan = inner.plan("child", Where(plans=where.plans + 1))
        rows = value([[1], [2, "b"]])
        inputs = {"items": path(self.arrays(where)[0][0]), "rows": rows, "x": self.expression(where, 1)}
        routes = {"ok": after, "alt": after}
        step = {"workflow": {"plan": plan}, "input": inputs, "output": self.output(where), "routes": routes}
        return self.add("sub", {"type": "subgraph", **step})

    def plan(self, name: str, where: Where) -> Json:
        start = self.block(END, where)
        output: Json = {
            "number": path("state.n"),
            "list": path("state.ext"),
            "object": {"path": "state.obj", "default": {}},
            "any": self.expression(where, 2),
        }
        properties = {"type": "object", "properties": STATE}
        outcomes: Json = {"outcomes": ["ok", "alt"], "output_schema": PARTS, "output": output}
        return {"name": name, "start": start, "state_schema": properties, "steps": self.steps, **outcomes}

    # What they read and write

    def arrays(self, where: Where) -> list[tuple[str, bool]]:
        found = [("input.items", False), ("input.rows", True)]
        found += [(f"context.{name}", False) for name, lists in where.loops if lists]
        if not where.loops:
            found += [("state.ext", False), ("state.o.list", False)]
        return found if self.safe else [*found, ("input.x", False)] if self.chance(90) else [("input.x", False)]

    def inputs(self, where: Where) -> Json:
        names = self.draw(st.lists(st.sampled_from(["x", "y", "z.a", "z.b"]), max_size=3, unique=True))
        return {name: self.expression(where, 2) for name in names}

    def output(self, where: Where) -> Json:
        """Map parts of a result to fields, none of them twice."""
        entries: Json = {}
        for part in self.draw(st.lists(st.sampled_from(list(TAKES)), max_size=3, unique=True)):
            fields = TAKES[part] + ([] if where.concurrent else ALONE)
            entries[f"state.{self.one_of(*fields)}"] = part if self.chance(80) else {"source": part, "optional": True}
        return entries

    def expression(self, where: Where, depth: int) -> Json:
        kinds = ["input", "state", "value", "template"] + (["context"] * 2 if where.loops else [])
        kind = self.one_of(*kinds, *(["object", "array"] if depth else []))
        match kind:
            case "input":
                return path(self.one_of("input", "input.x", "input.items"))
            case "state":
                name = self.one_of(
                    "state", "state.n", "state.log", "state.obj", "state.set", "state.o.list", "state.plain"
                )
                always = self.safe or self.chance(80)
                return {"path": name, "default": self.draw(LEAVES)} if always else path(name)
            case "value":
                return value(self.draw(VALUES))
            case "template":
                return {"template": self.one_of("{{input.x}}", "n={{state.n}} {{context.step_id}}", '{{"{{"}}é')}
            case "context":
                name, _ = self.one_of(*where.loops)
                return path(self.one_of(f"context.{name}", f"context.{name}_index", "context.run_id"))
            case "object":
                return {"object": {"a": self.expression(where, depth - 1), "b": self.expression(where, depth - 1)}}
            case _:
                return {"array": [self.expression(where, depth - 1)]}

    def question(self, where: Where, depth: int) -> Json:
        kind = self.one_of("exists", "eq", "order", "in", "matches", *(["not", "and", "or"] if depth else []))
        match kind:
            case "exists":
                return {"op": "exists", "path": self.one_of("state.hi", "state.obj.k", "input.items.1", "input.gone")}
            case "eq":
                op = self.one_of("eq", "ne")
                return {"op": op, "left": self.expression(where, 1), "right": self.expression(where, 1)}
            case "order":
                right = value(self.one_of(0, 2, 2**65, 1.5) if self.safe or self.chance(90) else "text")
                return {"op": self.one_of("gt", "ge", "lt", "le"), "left": path("state.n"), "right": right}
            case "in":
                return {"op": "in", "left": self.expression(where, 1), "right": path("state.log")}
            case "matches":
                text = {"template": "{{state.n}}{{input.x}}"}
                return {"op": "matches", "left": text, "right": value(self.one_of("^1", "é", "[0-9]t"))}
            case "not":
                return {"op": "not", "arg": self.question(where, depth - 1)}
            case op:
                return {"op": op, "args": [self.question(where, depth - 1), self.question(where, depth - 1)]}


@st.composite
def plans(draw: DrawFn, *, safe: bool = False) -> Json:
    """Write a plan; `safe`: no step of it can fail by itself."""
    writer = Writer(draw, safe, [draw(st.integers(6, 20))])
    return writer.plan("any", Where())


@dataclass(frozen=True)
class Behaviour:
    """How the outside answers: by what is asked and where alone, so whatever the order, the answers are the same."""

    seed: int
    trouble: int = 0
    """Percent of the attempts that give no good result."""

    def number(self, *about: Any) -> int:
        return crc32(json.dumps([self.seed, *about]).encode())

    def parts(self, number: int, asked: Any) -> Json:
        size = number % 5
        listed = list(range(size % 3))
        return {"number": size, "list": listed, "object": {"k": size, "abc"[size % 3]: 1}, "any": asked, "one": 1}

    def call(self, capability: str, where: tuple[str, ...], given: Json, attempt: int) -> Reply:
        """Carry a call out.

        Raises:
            Failed
        """
        number = self.number(capability, where, given)
        parts = self.parts(number, given.get("x"))
        mood = self.number(capability, where, given, attempt) % 100
        if mood < self.trouble and where[-1].startswith(("risk", "call")):
            return self.make_trouble(capability, mood, parts)
        return Reply("ab"[number % 2] if capability == "t.pick" else "ok", parts)

    def make_trouble(self, capability: str, mood: int, parts: Json) -> Reply:
        match mood % 5:
            case 0:
                raise Failed("unreachable", "gone", executed=False)
            case 1:
                raise Failed("timeout", "late")
            case 2:
                return Reply("error" if capability == "t.risky" else "unknown", {"message": "no"})
            case 3:
                return Reply("ok", {**parts, "number": "text"})
            case _:
                raise Failed

    def answer(self, where: tuple[str, ...], payload: Any) -> tuple[str, Json]:
        """Answer a question: outcome and payload."""
        number = self.number("answer", where, payload)
        return ("submitted", "other")[number % 2], self.parts(number, number % 3)
