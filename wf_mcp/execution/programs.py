"""Compiled plans, kept while they are used: runs of one deployment share one program, which holds no run's data."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any

from anyio import to_thread

from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract
from wf_core.runtime import Program, compile_program

MOST_KEPT = 32


class Programs:
    """The programs that were used last, by everything that goes into one."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[str, Program] = OrderedDict()

    async def compiled(self, environment: PinnedEnvironment, contracts: Mapping[str, Contract]) -> Program:
        """Compile what a run is pinned to, with the contracts that judge its calls, unless that was done lately."""
        key = _key(environment, contracts)
        program = self._kept.pop(key, None)
        if program is None:
            children: dict[tuple[str, int], dict[str, Any]] = {
                (child.artifact_id, child.version): child.plan for child in environment.children
            }
            # In a thread: a long plan takes its time, and others are served meanwhile.
            program = await to_thread.run_sync(
                partial(compile_program, environment.artifact.plan, contracts=contracts, children=children)
            )
        self._kept[key] = program
        while len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
        return program


def _key(environment: PinnedEnvironment, contracts: Mapping[str, Contract]) -> str:
    plans = {f"{one.artifact_id} {one.version}": one.digest for one in (environment.artifact, *environment.children)}
    return json_digest({"plans": plans, "contracts": {name: _told(one) for name, one in sorted(contracts.items())}})


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
