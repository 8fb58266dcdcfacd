"""A second interpreter of plans: recursive, without a scheduler, without persistence, and without failures.

It shares no code with the kernel and copies whatever it touches. Items of a concurrent loop, and branches, run one
after another, each on a copy of the state; their writes are applied afterwards, in order.
"""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
Call = Callable[[str, tuple[str, ...], Json], tuple[str, Any]]
Answer = Callable[[tuple[str, ...], Any], tuple[str, Any]]

NOTHING = object()


@dataclass
class Workflow:
    """One workflow, or one item of it, under way."""

    plan: Json
    given: Any
    state: Json
    call: Call
    answer: Answer
    prefix: tuple[str, ...] = ()
    context: Json = field(default_factory=dict[str, Any])
    log: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])

    def go(self, step_id: str) -> str:
        """Follow the steps to the end of this workflow or item; give its outcome."""
        while not step_id.startswith("__"):
            step = self.plan["steps"][step_id]
            self.context |= {"step_id": step_id, "attempt": 1}
            if step["type"] == "end":
                return step["outcome"]
            outcome = getattr(self, "do_" + step["type"])(step_id, step)
            step_id = step["routes"][outcome]
        return "break" if step_id == "__break__" else "ok"

    def do_join(self, step_id: str, step: Json) -> str:
        return "ok"

    def do_condition(self, step_id: str, step: Json) -> str:
        return "true" if self.holds(step["check"]) else "false"

    def do_node(self, step_id: str, step: Json) -> str:
        if step["use"] == "t.sleep":
            return "ok"
        outcome, result = self.call(step["use"], (*self.prefix, step_id), self.build(step.get("input", {})))
        self.write_map(step.get("output", {}), result)
        return outcome

    def do_interrupt(self, step_id: str, step: Json) -> str:
        outcome, result = self.answer((*self.prefix, step_id), self.build(step["request"]))
        self.write_map(step["resume"], result)
        return outcome

    def do_subgraph(self, step_id: str, step: Json) -> str:
        plan = step["workflow"]["plan"]
        given = self.build(step["input"])
        outcome, output = run(plan, given, self.call, self.answer, (*self.prefix, step_id), self.context["run_id"])
        self.write_map(step["output"], output)
        return outcome

    def do_foreach(self, step_id: str, step: Json) -> str:
        concurrent = step.get("mode") == "concurrent"
        before = self.state
        logs: list[Any] = []
        for index, item in enumerate(deepcopy(self.find(step["over"]))):
            inside = Workflow(
                plan=self.plan,
                given=self.given,
                state=deepcopy(before) if concurrent else self.state,
                call=self.call,
                answer=self.answer,
                prefix=(*self.prefix, step_id, str(index)),
                context={**self.context, step["as"]: item, f"{step['as']}_index": index},
            )
            end = inside.go(step["routes"]["loop"])
            if concurrent:
                logs.append(inside.log)
            else:
                self.log += inside.log
            if end == "break":
                break
        for log in logs:
            for target, reducer, incoming in log:
                self.write(target, reducer, incoming)
        return "done"

    def do_parallel(self, step_id: str, step: Json) -> str:
        branches = [
            replace(
                self, state=deepcopy(self.state), prefix=(*self.prefix, step_id, name), context={**self.context}, log=[]
            )
            for name in step["branches"]
        ]
        for branch, first in zip(branches, step["branches"].values(), strict=True):
            branch.go(first)
        for branch in branches:
            for target, reducer, incoming in branch.log:
                self.write(target, reducer, incoming)
        return "done"

    # Writing

    def write_map(self, entries: Json, result: Any) -> None:
        for target, source in entries.items():
            name = source if isinstance(source, str) else source["source"]
            self.write(target, self.reducer_of(target), deepcopy(result[name]))

    def reducer_of(self, target: str) -> str:
        schema: Any = self.plan["state_schema"]
        for name in target.split(".")[1:]:
            schema = schema["properties"][name]
        return schema.get("reducer", "replace")

    def write(self, target: str, reducer: str, incoming: Any) -> None:
        *outer, last = target.split(".")[1:]
        holder = self.state
        for name in outer:
            holder = holder.setdefault(name, {})
        holder[last] = REDUCE[reducer](holder.get(last, NOTHING), deepcopy(incoming))
        self.log.append((target, reducer, incoming))

    # Reading

    def build(self, targets: Json) -> Json:
        built: Json = {}
        for target, expression in targets.items():
            *outer, last = target.split(".")
            holder = built
            for name in outer:
                holder = holder.setdefault(name, {})
            holder[last] = self.evaluate(expression)
        return built

    def find(self, path: str) -> Any:
        root, *rest = path.split(".")
        value: Any = {"input": self.given, "state": self.state, "context": self.context}[root]
        for name in rest:
            try:
                value = value[int(name) if type(value) is list else name]
            except (IndexError, KeyError, TypeError, ValueError):
                return NOTHING
        return value

    def evaluate(self, expression: Json) -> Any:
        match expression:
            case {"path": path}:
                found = self.find(path)
                return deepcopy(expression["default"] if found is NOTHING else found)
            case {"value": literal}:
                return deepcopy(literal)
            case {"object": members}:
                return {name: self.evaluate(member) for name, member in members.items()}
            case {"array": elements}:
                return [self.evaluate(element) for element in elements]
            case _:
                return re.sub(r"\{\{(.*?)\}\}", self.land, expression["template"])

    def land(self, placeholder: re.Match[str]) -> str:
        inside = placeholder[1]
        value = json.loads(inside) if inside.startswith('"') else self.find(inside)
        return value if isinstance(value, str) else compact(value)

    def holds(self, question: Json) -> bool:
        match question:
            case {"op": "exists", "path": path}:
                return self.find(path) is not NOTHING
            case {"op": "not", "arg": arg}:
                return not self.holds(arg)
            case {"op": "and", "args": args}:
                return all(self.holds(arg) for arg in args)
            case {"op": "or", "args": args}:
                return any(self.holds(arg) for arg in args)
            case _:
                left, right = self.evaluate(question["left"]), self.evaluate(question["right"])
                return COMPARE[question["op"]](left, right)


def run(
    plan: Json, given: Any, call: Call, answer: Answer, prefix: tuple[str, ...] = (), run_id: str = "run_test"
) -> tuple[str, Any]:
    """Interpret a plan; give its outcome and output."""
    state = dict(defaults(plan["state_schema"]))
    workflow = Workflow(plan, given, state, call, answer, prefix, {"run_id": run_id})
    outcome = workflow.go(plan["start"])
    return outcome, workflow.build(plan["output"])


def defaults(schema: Json) -> Iterator[tuple[str, Any]]:
    for name, inner in schema.get("properties", {}).items():
        nested = dict(defaults(inner))
        if "default" in inner:
            yield name, deepcopy(inner["default"])
        elif nested:
            yield name, nested


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def same(left: Any, right: Any) -> bool:
    """Compare as JSON."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    match left, right:
        case [*ones], [*others]:
            return len(ones) == len(others) and all(map(same, ones, others))
        case {**ones}, {**others}:
            return ones.keys() == others.keys() and all(same(ones[name], others[name]) for name in ones)
        case _:
            return left == right


def union(current: list[Any], incoming: list[Any]) -> list[Any]:
    together: list[Any] = []
    for element in [*current, *incoming]:
        if not any(same(element, one) for one in together):
            together.append(element)
    return together


def start_with(empty: Any, reducer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda current, incoming: reducer(deepcopy(empty) if current is NOTHING else current, incoming)


REDUCE: dict[str, Callable[[Any, Any], Any]] = {
    "replace": lambda current, incoming: incoming,
    "append": start_with([], lambda current, incoming: [*current, incoming]),
    "extend": start_with([], lambda current, incoming: [*current, *incoming]),
    "set_union": start_with([], union),
    "merge_object": start_with({}, lambda current, incoming: {**current, **incoming}),
    "add": start_with(0, lambda current, incoming: current + incoming),
    "max": lambda current, incoming: incoming if current is NOTHING else max(current, incoming),
    "min": lambda current, incoming: incoming if current is NOTHING else min(current, incoming),
}

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": same,
    "ne": lambda left, right: not same(left, right),
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "in": lambda left, right: any(same(left, one) for one in right),
    "matches": lambda left, right: re.search(right, left) is not None,
}
