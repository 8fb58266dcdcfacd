"""Compiled plans, kept while they are used: runs of one deployment share one program, which holds no run's data."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from anyio import to_thread

from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract
from wf_core.calls.policy_data import read_policy
from wf_core.runtime import Program, compile_program
from wf_core.runtime.program import Children
from wf_mcp.execution.recent import Recent


class Programs:
    """The programs that were used last."""

    def __init__(self, most_kept: int = 32) -> None:
        self._recent = Recent[str, Program](most_kept)

    async def compiled(self, environment: PinnedEnvironment, contracts: Mapping[str, Contract]) -> Program:
        """Compile what a run is pinned to, with the contracts that judge its calls, unless that was done lately."""
        children: dict[tuple[str, int], dict[str, Any]] = {
            (child.artifact_id, child.version): child.plan for child in environment.children
        }
        compiling = partial(_compiled, environment, contracts, children)
        # In a thread: a long plan takes its time, and others are served meanwhile.
        return await self._recent.get(_key(environment, contracts), partial(to_thread.run_sync, compiling))


def _compiled(environment: PinnedEnvironment, contracts: Mapping[str, Contract], children: Children) -> Program:
    policy = environment.deployment.call_policy
    decided = None if policy is None else read_policy(policy, "call_policy")
    return compile_program(environment.artifact.plan, contracts=contracts, children=children, policy=decided)


def _key(environment: PinnedEnvironment, contracts: Mapping[str, Contract]) -> str:
    plans = {f"{one.artifact_id} {one.version}": one.digest for one in (environment.artifact, *environment.children)}
    told = {name: _told(one) for name, one in sorted(contracts.items())}
    return json_digest({"plans": plans, "contracts": told, "policy": environment.deployment.call_policy})


def _told(contract: Contract) -> dict[str, Any]:
    """Tell all of a contract, hints included: the kernel goes by them."""
    hints = contract.hints
    return {
        "input": contract.input_schema,
        "output": contract.output_schema,
        "outcomes": list(contract.outcomes),
        "hints": [hints.read_only, hints.idempotent, hints.destructive],
        "deferred": contract.deferred,
    }
