"""A plan made ready to run: every path, expression, condition and schema of it compiled once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wf_core.calls.contract import Contract
from wf_core.calls.policy import (
    AppliedPolicy,
    Defer,
    PolicyContext,
    RunAsync,
    RunSync,
    ToolCall,
    WithLabel,
    bare,
    decorators,
)
from wf_core.calls.policy_data import PolicyConfig
from wf_core.paths import Segments, parse_local_path, parse_state_target
from wf_core.plan import (
    ConditionStep,
    EndStep,
    ForeachStep,
    InterruptStep,
    JoinStep,
    NodeStep,
    OptionalSource,
    ParallelStep,
    SubgraphStep,
    WorkflowPlan,
    WorkflowRef,
)
from wf_core.runtime.conditions import Ask, compile_condition
from wf_core.runtime.expressions import Evaluate, Find, compile_built, compile_find, compile_object
from wf_core.runtime.targets import StateShape, Target
from wf_core.schemas import Check, compile_schema

Children = Mapping[tuple[str, int], Mapping[str, Any]]
"""(artifact id, version) -> plan, of every saved child however deep."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """One entry of an `output` or `resume` map."""

    target: Target
    source: Segments
    optional: bool


@dataclass(frozen=True, slots=True)
class NodeCode:
    step: NodeStep
    capability: str
    contract: Contract
    build_input: Evaluate
    input_check: Check | None
    output_check: Check | None
    output: tuple[Mapped, ...]
    error_output: tuple[Mapped, ...]
    policy: AppliedPolicy | None = None
    """How the deployment wants the calls carried out. None: as they come."""
    put_off: Defer | None = None
    """How the calls are left to the outside, if they are."""
    labels: tuple[str, ...] = ()
    """What the policy calls them, for the trace."""


@dataclass(frozen=True, slots=True)
class ConditionCode:
    step: ConditionStep
    ask: Ask


@dataclass(frozen=True, slots=True)
class JoinCode:
    step: JoinStep


@dataclass(frozen=True, slots=True)
class EndCode:
    step: EndStep


@dataclass(frozen=True, slots=True)
class InterruptCode:
    step: InterruptStep
    build_request: Evaluate
    request_check: Check | None
    resume: tuple[Mapped, ...]


@dataclass(frozen=True, slots=True)
class ForeachCode:
    step: ForeachStep
    over: Find
    collect_to: Target | None

    @property
    def concurrent(self) -> bool:
        """Whether items keep their writes to themselves until all have ended."""
        return self.step.mode == "concurrent"

    @property
    def width(self) -> int:
        """Give how many items may execute at once."""
        return self.step.max_active if self.concurrent else 1

    @property
    def gives_up(self) -> bool:
        """Whether the first failure ends the loop."""
        return self.step.on_item_error == "fail"

    def first_step(self, index: int) -> str:
        """Give the step at which an item begins."""
        del index  # all begin at the same
        return self.step.routes["loop"]

    def label(self, index: int) -> str:
        """Name an item in paths."""
        return str(index)

    def name(self, index: int) -> str:
        """Name an item in messages."""
        return f"item {index}"


@dataclass(frozen=True, slots=True)
class ParallelCode:
    """A parallel step is a concurrent loop whose items are its branches, by number in the order of the plan."""

    step: ParallelStep
    names: tuple[str, ...]
    collect_to: None = None
    concurrent: bool = True
    gives_up: bool = True

    @property
    def width(self) -> int:
        """Give how many branches may execute at once: all."""
        return len(self.names)

    def first_step(self, index: int) -> str:
        """Give the step at which a branch begins."""
        return self.step.branches[self.names[index]]

    def label(self, index: int) -> str:
        """Name a branch in paths."""
        return self.names[index]

    def name(self, index: int) -> str:
        """Name a branch in messages."""
        return f"branch {self.names[index]}"


@dataclass(frozen=True, slots=True)
class SubgraphCode:
    step: SubgraphStep
    child: "Program"
    build_input: Evaluate
    output: tuple[Mapped, ...]


LoopCode = ForeachCode | ParallelCode
StepCode = NodeCode | ConditionCode | JoinCode | EndCode | InterruptCode | LoopCode | SubgraphCode


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled plan. Holds no run's data, so any number of runs share one."""

    plan: WorkflowPlan
    shape: StateShape
    input_check: Check | None
    initial_state: tuple[tuple[Target, Evaluate], ...]
    build_output: Evaluate | None
    """None: the properties of the output schema that state has."""
    output_names: tuple[str, ...]
    output_check: Check | None
    steps: Mapping[str, StepCode] = field(default_factory=dict[str, StepCode])

    def at(self, path: tuple[str, ...]) -> "Program":
        """Give the program of a child, by the subgraph steps that lead to it."""
        program = self
        for step_id in path:
            code = program.steps[step_id]
            if not isinstance(code, SubgraphCode):
                raise KeyError(step_id)
            program = code.child
        return program


def compile_program(
    plan: Mapping[str, Any],
    *,
    contracts: Mapping[str, Contract],
    children: Children | None = None,
    policy: PolicyConfig | None = None,
) -> Program:
    """Compile a plan that validates. `policy` says how its calls, and those of its children, are carried out.

    `contracts` has the contract of every capability that the plan and its children name, by logical name.

    Raises:
        KeyError: a contract or a child plan is missing.
        pydantic.ValidationError, InvalidPath, InvalidSchema: the plan does not validate.
    """
    return _Compiler(contracts, children or {}, policy).compile(plan)


class _Compiler:
    def __init__(self, contracts: Mapping[str, Contract], children: Children, policy: PolicyConfig | None) -> None:
        self._contracts = contracts
        self._policy = policy
        self._children = children
        self._checks: dict[str, tuple[Check | None, Check | None]] = {}
        self._saved: dict[tuple[str, int], Program] = {}

    def compile(self, document: Mapping[str, Any]) -> Program:
        plan = WorkflowPlan.model_validate(dict(document))
        shape = StateShape(plan.state_schema)
        properties: Any = plan.output_schema.get("properties", {}) if isinstance(plan.output_schema, dict) else {}
        compilers: dict[type, Callable[[StateShape, Any], StepCode]] = {
            NodeStep: self._node,
            ConditionStep: self._condition,
            JoinStep: lambda _, step: JoinCode(step),
            EndStep: lambda _, step: EndCode(step),
            InterruptStep: self._interrupt,
            ForeachStep: self._foreach,
            ParallelStep: lambda _, step: ParallelCode(step, tuple(step.branches)),
            SubgraphStep: self._subgraph,
        }
        return Program(
            plan=plan,
            shape=shape,
            input_check=compile_schema(plan.input_schema),
            initial_state=tuple(
                # Nothing is there yet that a reducer could let it meet: it is what the run starts with.
                (
                    shape.target(parse_state_target(target), "replace"),
                    compile_built(expression, "state_invalid", target),
                )
                for target, expression in plan.initial_state.items()
            ),
            build_output=None if plan.output is None else compile_object(plan.output, "output_invalid"),
            output_names=tuple(properties),
            output_check=compile_schema(plan.output_schema),
            steps={step_id: compilers[type(step)](shape, step) for step_id, step in plan.steps.items()},
        )

    def _node(self, shape: StateShape, step: NodeStep) -> NodeCode:
        name = str(step.use)
        contract = self._contracts[name]
        if name not in self._checks:
            self._checks[name] = (compile_schema(contract.input_schema), compile_schema(contract.output_schema))
        input_check, output_check = self._checks[name]
        policy = self._applied(step, contract)
        disposition = None if policy is None else bare(policy.disposition)
        return NodeCode(
            step=step,
            capability=name,
            contract=contract,
            build_input=compile_object(step.input, "input_invalid"),
            input_check=input_check,
            output_check=output_check,
            output=_compile_map(shape, step.output),
            error_output=_compile_map(shape, step.error_output),
            policy=policy,
            put_off=disposition if isinstance(disposition, Defer) else None,
            labels=() if policy is None else _labels(policy),
        )

    def _applied(self, step: NodeStep, contract: Contract) -> AppliedPolicy | None:
        """Say how a step's calls are to be carried out: a policy looks at names alone, so it decides once."""
        if self._policy is None or contract.deferred:
            return None
        call = ToolCall(step.use.capability, {}, capability=str(step.use))
        applied = self._policy.apply(PolicyContext(), call)
        return None if isinstance(applied.disposition, (RunSync, RunAsync)) else applied

    def _condition(self, _: StateShape, step: ConditionStep) -> ConditionCode:
        return ConditionCode(step, compile_condition(step.check))

    def _interrupt(self, shape: StateShape, step: InterruptStep) -> InterruptCode:
        return InterruptCode(
            step=step,
            build_request=compile_object(step.request, "request_invalid"),
            request_check=compile_schema(step.request_schema),
            resume=_compile_map(shape, step.resume),
        )

    def _foreach(self, shape: StateShape, step: ForeachStep) -> ForeachCode:
        policy = step.on_item_error
        collect_to = None if isinstance(policy, str) else shape.target(parse_state_target(policy.collect_to), "append")
        return ForeachCode(step, compile_find(step.over, keep=True), collect_to)

    def _subgraph(self, shape: StateShape, step: SubgraphStep) -> SubgraphCode:
        return SubgraphCode(
            step=step,
            child=self._child(step.workflow),
            build_input=compile_object(step.input, "input_invalid"),
            output=_compile_map(shape, step.output),
        )

    def _child(self, reference: WorkflowRef) -> Program:
        """Compile a child plan; a saved one only once, however many steps run it."""
        if reference.plan is not None:
            return self.compile(reference.plan)
        key = (reference.artifact_id or "", reference.version or 0)
        if key not in self._saved:
            self._saved[key] = self.compile(self._children[key])
        return self._saved[key]


def _labels(policy: AppliedPolicy) -> tuple[str, ...]:
    return tuple(one.text for one in decorators(policy.disposition) if isinstance(one, WithLabel))


def _compile_map(shape: StateShape, entries: Mapping[str, str | OptionalSource]) -> tuple[Mapped, ...]:
    compiled: list[Mapped] = []
    for target, source in entries.items():
        text, optional = (source, False) if isinstance(source, str) else (source.source, source.optional)
        compiled.append(Mapped(shape.target(parse_state_target(target)), parse_local_path(text), optional))
    return tuple(compiled)
