"""Compiled plans are shared by the runs that are pinned to the same things, and by no others."""

from dataclasses import replace
from typing import Any

import pytest

from tests.wf_mcp.scripted import artifact, deployment, node, plan
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_core.calls.contract import Contract, Hints
from wf_mcp.execution.programs import Programs

pytestmark = pytest.mark.anyio

ONE = plan({"first": node("ops.echo")})
OTHER = plan({"first": node("ops.echo", "second"), "second": node("ops.echo")})
ECHO = {"ops.echo": Contract()}


def environment(document: dict[str, Any]) -> PinnedEnvironment:
    return PinnedEnvironment(artifact=artifact(document), deployment=deployment(), capabilities={})


async def test_runs_pinned_to_the_same_things_share_a_program() -> None:
    programs = Programs()
    first = await programs.compiled(environment(ONE), ECHO)
    assert await programs.compiled(environment(ONE), {"ops.echo": Contract()}) is first


async def test_another_plan_has_another_program() -> None:
    programs = Programs()
    assert await programs.compiled(environment(ONE), ECHO) is not await programs.compiled(environment(OTHER), ECHO)


@pytest.mark.parametrize(
    "changes",
    [
        {"hints": Hints(read_only=True)},
        {"outcomes": ("ok", "error")},
        {"input_schema": {"type": "object"}},
        {"output_schema": {"type": "object"}},
        {"deferred": True},
    ],
)
async def test_another_contract_has_another_program(changes: dict[str, Any]) -> None:
    programs = Programs()
    changed = {"ops.echo": replace(Contract(), **changes)}
    assert await programs.compiled(environment(ONE), changed) is not await programs.compiled(environment(ONE), ECHO)


async def test_what_was_not_used_for_long_is_compiled_anew() -> None:
    programs = Programs(most_kept=1)
    first = await programs.compiled(environment(ONE), ECHO)
    await programs.compiled(environment(OTHER), ECHO)
    assert await programs.compiled(environment(ONE), ECHO) is not first
