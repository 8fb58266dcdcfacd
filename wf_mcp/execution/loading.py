"""A stored run made ready to go on: its program compiled, its state brought up to its last input."""

from collections.abc import Mapping

from anyio import to_thread

from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.store import Claim
from wf_core.calls.contract import Contract
from wf_core.codec import dump_run, load_run
from wf_core.codec.inputs import load_journal
from wf_core.runtime import Program
from wf_core.runtime.inputs import replay
from wf_core.state import FINAL, RunState
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.journal import Journal, Manner
from wf_mcp.execution.means import Means


async def require_ready(means: Means, record: RunRecord, environment: PinnedEnvironment) -> Mapping[str, Contract]:
    """Compare the pin with what the sources offer now, and give the contracts that judge the calls to come.

    A run that is over needs nothing of the sources.

    Raises:
        RunBlocked: something is missing, switched off, or changed in a way that the plan notices.
    """
    if record.status in FINAL:
        return pins.pinned_contracts(environment)
    readiness = pins.readiness(environment, await pins.ask(means.registry, pins.names(environment)))
    if not readiness.ready:
        raise RunBlocked(record.run_id, [issue.as_json() for issue in readiness.errors])
    return readiness.contracts


async def load(
    means: Means, claim: Claim, record: RunRecord, environment: PinnedEnvironment, contracts: Mapping[str, Contract]
) -> Journal:
    """Read a claimed run: its latest checkpoint, and the inputs since.

    Raises:
        StateError: it cannot be read, or its inputs lead elsewhere than they did.
    """
    checkpoint = await means.store.load_checkpoint(record.run_id)
    lines = await means.store.load_journal(record.run_id)
    pinned = pins.pinned_contracts(environment)
    program = await means.programs.compiled(environment, contracts)
    run = load_run(checkpoint.state)
    if lines:
        # What is in a journal was judged by the pinned contracts; see `manner`.
        before = program if contracts == pinned else await means.programs.compiled(environment, pinned)
        run = await to_thread.run_sync(_replayed, before, run, lines)
    return Journal(means, claim, program, run, record, environment, manner=manner(environment, contracts))


def manner(environment: PinnedEnvironment, contracts: Mapping[str, Contract]) -> Manner:
    """Say how the inputs of a run are kept that is judged by these contracts."""
    if environment.deployment.durability == "stops":
        return "stops"
    return "appended" if contracts == pins.pinned_contracts(environment) else "whole"


def _replayed(program: Program, run: RunState, lines: list[bytes]) -> RunState:
    replay(program, run, load_journal(lines))
    return load_run(dump_run(run))  # free of the program, which may not be the one that it goes on with
