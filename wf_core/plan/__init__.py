"""The workflow language: the records a plan is read into. Checking a plan as a whole is `wf_core.validation`."""

from wf_core.plan.bindings import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    OptionalSource,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.plan.conditions import Compare, Condition, Exists, Logic, Not
from wf_core.plan.reducers import REDUCERS, ReducerName
from wf_core.plan.refs import CapabilityRef, WorkflowRef
from wf_core.plan.steps import (
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
from wf_core.plan.workflow import BREAK, END, WorkflowPlan

__all__ = [
    "BREAK",
    "END",
    "REDUCERS",
    "ArrayExpression",
    "CapabilityRef",
    "Compare",
    "Condition",
    "ConditionStep",
    "EndStep",
    "Exists",
    "Expression",
    "ForeachStep",
    "InterruptStep",
    "JoinStep",
    "Logic",
    "NodeStep",
    "Not",
    "ObjectExpression",
    "OptionalSource",
    "ParallelStep",
    "PathExpression",
    "ReducerName",
    "Step",
    "SubgraphStep",
    "TemplateExpression",
    "ValueExpression",
    "WorkflowPlan",
    "WorkflowRef",
]
