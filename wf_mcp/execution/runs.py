"""The runs that this process advances.

A run belongs to the server, not to the request that started or answered it: who asks may leave at any time. One holder
of the run's claim advances it; the claim is taken here, and given back when the run stops.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskGroup

from wf_artifacts.errors import RunBusy
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, RunRecord
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.digests import json_digest
from wf_core.codec import dump_run
from wf_core.errors import WfError
from wf_core.ids import ArtifactId, DeploymentId, RunId, run_id
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer, Settlement, start
from wf_core.runtime.inputs import Cancel, Doubt, Expire, Recover, Resume, Settle
from wf_core.state import FINAL
from wf_mcp.errors import first_error
from wf_mcp.execution import pins
from wf_mcp.execution.abandoned import is_of_store
from wf_mcp.execution.advance import advance
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.journal import Journal
from wf_mcp.execution.live import CancelAsked, Given, LiveRun, Progress
from wf_mcp.execution.loading import load, manner, require_ready
from wf_mcp.execution.means import Means
from wf_mcp.execution.owned import ShuttingDown, owned
from wf_mcp.execution.records import describe

logger = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 0.2
"""How often a run that another process advances is looked at while somebody waits for it."""


class AdvancingFailed(WfError):
    """Advancing a run ended on a fault of ours. The run stands as it was last stored."""

    code = "internal_error"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Something went wrong inside wf-mcp while it advanced the run {run_id}.",
            hint=f"The run stands as it was last stored: inspect_run(run_id={run_id!r}). The log on stderr says more.",
            details={"run_id": run_id},
        )


@dataclass(frozen=True, slots=True)
class Handle:
    """A run that somebody may want to wait for."""

    run_id: RunId
    live: LiveRun | None = None
    """None where this process does not advance it."""


@dataclass(frozen=True, slots=True)
class AtRest:
    """A run that was advanced here, as it was stored when it stopped."""

    record: RunRecord
    environment: PinnedEnvironment


class RunDriver:
    """Starts, answers, cancels and advances runs in tasks of the application."""

    def __init__(self, means: Means, tasks: TaskGroup, random_bits: Callable[[], int]) -> None:
        self._means = means
        self._tasks = tasks
        self._random_bits = random_bits
        self._live: dict[RunId, LiveRun] = {}
        self.torn: set[RunId] = set()
        """Runs that this process let go because the store failed."""
        self.on_stop: Callable[[RunRecord, PinnedEnvironment], None] | None = None
        """Told of each run that has stopped here, once it is stored and free."""
        self._turns: WeakValueDictionary[RunId, anyio.Lock] = WeakValueDictionary()

    @property
    def changes(self) -> Changes:
        """Where to hear of each time a run is stored here."""
        return self._means.changes

    def handle(self, run_id: RunId) -> Handle:
        """Give what it takes to wait for a run."""
        return Handle(run_id, self._live.get(run_id))

    async def start(
        self, environment: PinnedEnvironment, workflow_input: JsonValue, *, principal: str, idempotency_key: str | None
    ) -> Handle:
        """Create a run and begin to advance it; it is stored before its first call.

        The run that an idempotency key already names is given as it is.

        Raises:
            InvalidInput: the input does not fit the plan's input schema; no run was created.
            IdempotencyConflict: the key names a run with another input; no run was created.
            StoreFull, StoreUnavailable: no run was created.
        """
        now = self._means.clock.now()
        deployed = environment.deployment
        artifact = (deployed.artifact_id, deployed.artifact_version)
        blank = self._blank(deployed.deployment_id, artifact, workflow_input, principal, idempotency_key, now)
        contracts = pins.pinned_contracts(environment)
        program = await self._means.programs.compiled(environment, contracts)
        run = start(program, run_id=blank.run_id, input=workflow_input)
        record = describe(run, blank, checkpoint=1, now=now)
        checkpoint = Checkpoint(record.run_id, 1, "started", dump_run(run), now)

        async def create() -> Handle:
            made = await self._means.store.create(record, environment, checkpoint, trace=run.take_trace())
            if made.claim is not None:
                kept = manner(environment, contracts)
                self._launch(Journal(self._means, made.claim, program, run, made.record, environment, manner=kept))
            return self.handle(made.record.run_id)

        return await owned(self._tasks, create)

    async def earlier(
        self, deployment_id: DeploymentId, workflow_input: JsonValue, *, principal: str, idempotency_key: str
    ) -> Handle | None:
        """Give the run that an idempotency key names already, if any; its deployment may be gone.

        Raises:
            IdempotencyConflict: the key names a run with another input.
        """
        # The store looks at the key and the input alone, so the artifact may be any.
        now, artifact_id = self._means.clock.now(), ArtifactId(deployment_id)
        blank = self._blank(deployment_id, (artifact_id, 1), workflow_input, principal, idempotency_key, now)
        found = await self._means.store.earlier(blank)
        return None if found is None else self.handle(found.run_id)

    async def answer(self, run_id: RunId, answer: Answer) -> Handle:
        """Answer a question of a run, and advance it; the answer is stored before anything is done about it.

        A run that this process advances takes the answer while its other steps go on. One whose process is gone is
        taken over with it.

        Raises:
            RunRefused: the answer is not taken (the subclasses say why); the stored run is as it was.
            RunBlocked: what the run was started with is not there any more; the stored run is as it was.
            RunBusy: another process advances the run.
            StoreFull, StoreUnavailable: the answer was not taken.
        """
        return await owned(self._tasks, partial(self._give, run_id, Resume(self._means.clock.now(), answer)))

    async def settle(self, run_id: RunId, call_id: str, settlement: Settlement) -> Handle:
        """Say something of a call that waits, and advance the run; the word is stored before anything is done about it.

        Raises:
            RunRefused, InvalidResult: the word is not taken; the stored run is as it was.
            RunBlocked, RunBusy, StoreFull, StoreUnavailable: as `answer`.
        """
        given = Settle(self._means.clock.now(), call_id, settlement)
        return await owned(self._tasks, partial(self._give, run_id, given))

    async def doubt(self, run_id: RunId, call_id: str, *, reason: str) -> Handle:
        """Let a person say what became of a call whose callee is not there any more. The run goes on only by that.

        Raises:
            RunRefused: the call does not wait for its callee; the stored run is as it was.
            RunBlocked, RunBusy, StoreFull, StoreUnavailable: as `answer`.
        """
        given = Doubt(self._means.clock.now(), call_id, reason)
        return await owned(self._tasks, partial(self._give, run_id, given))

    async def expire(self, run_id: RunId) -> Handle:
        """Let the steps fail whose calls waited too long, and advance the run.

        Raises:
            RunBlocked, RunBusy, StoreFull, StoreUnavailable: as `answer`.
        """
        return await owned(self._tasks, partial(self._give, run_id, Expire(self._means.clock.now())))

    async def take_over(self, run_id: RunId) -> Handle:
        """Go on with a run whose process is gone, from its last stored input. Any other run stays as it is.

        Raises:
            RunBlocked: what the run was started with is not there any more; the stored run is as it was.
            RunBusy: another process advances the run.
            StateError, StoreFull, StoreUnavailable: the stored run is as it was.
        """

        async def take() -> Handle:
            async with self._turn(run_id):
                if run_id not in self._live:
                    await self._recover(run_id)
                return self.handle(run_id)

        return await owned(self._tasks, take)

    async def cancel(self, run_id: RunId, *, reason: str | None) -> None:
        """End a run for good, whatever it is doing. One that is over stays as it is.

        Raises:
            RunBusy: another process advances the run; the hint says who can end it.
            StoreFull, StoreUnavailable: the run is as it was last stored.
        """

        async def end() -> None:
            while True:
                async with self._turn(run_id):
                    live = self._live.get(run_id)
                    if live is None:
                        try:
                            return await self._cancel_at_rest(run_id, reason)
                        except RunBusy as busy:
                            busy.hint = _how_to_end(run_id)
                            raise
                live.post(CancelAsked(reason))
                await live.wait()
                if live.fault:
                    raise live.fault
                # It may have stopped at a question before it heard of the wish: look again.

        await owned(self._tasks, end)

    async def wait(self, handle: Handle, *, seconds: float, progress: Progress | None = None) -> AtRest | None:
        """Wait for at most `seconds` until the run stops. It goes on afterwards, also when the waiting is cancelled.

        Gives the run where it has stopped here, None where it goes on or another process advances it.

        Raises:
            StoreFull, StoreUnavailable, AdvancingFailed: advancing it ended; it stands as it was last stored.
        """
        with anyio.move_on_after(seconds):
            if handle.live is None:
                await self._wait_for_others(handle.run_id)
            elif progress is None:
                await handle.live.wait()
            else:
                await handle.live.follow(progress)
        if handle.live is None:
            return None
        if handle.live.fault is not None:
            raise handle.live.fault
        if self._live.get(handle.run_id) is handle.live:
            return None
        return AtRest(handle.live.journal.record, handle.live.journal.environment)

    def _blank(
        self,
        deployment_id: DeploymentId,
        artifact: tuple[ArtifactId, int],
        workflow_input: JsonValue,
        principal: str,
        key: str | None,
        now: datetime,
    ) -> RunRecord:
        """Give the record of a run that is to be created."""
        return RunRecord(
            run_id=run_id(now, self._random_bits()),
            principal=principal,
            deployment_id=deployment_id,
            artifact_id=artifact[0],
            artifact_version=artifact[1],
            status="running",
            checkpoint=1,
            idempotency_key=key,
            input_digest=json_digest(workflow_input),
            created_at=now,
            updated_at=now,
        )

    async def _wait_for_others(self, run_id: RunId) -> None:
        while await self._means.store.is_claimed(run_id):  # noqa: ASYNC110  # no event crosses processes
            await anyio.sleep(LOOK_AGAIN_SECONDS)

    async def _give(self, run_id: RunId, given: Given) -> Handle:
        while True:
            async with self._turn(run_id):
                live = self._live.get(run_id)
                if live is None:
                    return await self._give_at_rest(run_id, given)
            if await live.answer(given):
                return Handle(run_id, live)
            if live.fault:
                raise live.fault
            # It stopped before it heard of the answer: look again.

    async def _give_at_rest(self, run_id: RunId, given: Given) -> Handle:
        async with self._claim(run_id) as claim:
            record, environment = await self._read(run_id)
            contracts = await require_ready(self._means, record, environment)
            journal = await load(self._means, claim, record, environment, contracts)
            if record.status == "running":
                journal.apply(Recover(self._means.clock.now()))
            journal.apply(given)
            await journal.commit("answered")
            self._launch(journal)
            return self.handle(run_id)

    async def _recover(self, run_id: RunId) -> None:
        async with self._claim(run_id) as claim:
            record, environment = await self._read(run_id)
            if record.status != "running":
                return
            contracts = await require_ready(self._means, record, environment)
            journal = await load(self._means, claim, record, environment, contracts)
            journal.apply(Recover(self._means.clock.now()))
            await journal.commit("recovered")
            self._launch(journal)

    async def _cancel_at_rest(self, run_id: RunId, reason: str | None) -> None:
        async with self._claim(run_id) as claim:
            record, environment = await self._read(run_id)
            if record.status in FINAL:
                return
            journal = await load(self._means, claim, record, environment, pins.pinned_contracts(environment))
            if journal.run.status not in FINAL:
                journal.apply(Cancel(self._means.clock.now(), reason))
            await journal.commit(journal.run.status)
        if self.on_stop is not None:
            self.on_stop(journal.record, journal.environment)

    def _turn(self, run_id: RunId) -> anyio.Lock:
        """Let the answers to one run, and wishes to end it, come one after another."""
        return self._turns.setdefault(run_id, anyio.Lock())

    @asynccontextmanager
    async def _claim(self, run_id: RunId) -> AsyncGenerator[Claim]:
        """Hold the claim of a run, and give it back unless the run was launched with it."""
        claim = await self._means.store.claim(run_id)
        try:
            yield claim
        finally:
            live = self._live.get(run_id)
            if live is None or live.journal.claim is not claim:
                await claim.release()

    async def _read(self, run_id: RunId) -> tuple[RunRecord, PinnedEnvironment]:
        return await self._means.store.load(run_id), await self._means.store.load_environment(run_id)

    def _launch(self, journal: Journal) -> None:
        live = LiveRun(journal)
        self._live[live.run_id] = live
        self._tasks.start_soon(self._drive, live)

    async def _drive(self, live: LiveRun) -> None:
        """Advance a run to its next stop. Whatever happens, its claim is given back and its waiters are told."""
        try:
            await advance(self._means, live, lambda: self._settle(live, None))
        except* WfError as group:
            await self._settle(live, first_error(group))
        except* Exception:
            logger.exception("Advancing the run %s failed", live.run_id)
            await self._settle(live, AdvancingFailed(live.run_id))
        finally:
            await self._settle(live, ShuttingDown())

    async def _settle(self, live: LiveRun, fault: WfError | None) -> None:
        """Put down a run that is not advanced any more; the first word about why counts."""
        if self._live.get(live.run_id) is not live:
            return
        live.fault = fault
        if is_of_store(fault):
            self.torn.add(live.run_id)
        await live.journal.leave()
        del self._live[live.run_id]
        live.end()
        if fault is None and self.on_stop is not None:
            self.on_stop(live.journal.record, live.journal.environment)


def _how_to_end(run_id: RunId) -> str:
    """Say what ends a run that another process advances: it alone knows the calls that are under way."""
    return (
        f"Only the server that advances it can end it now: cancel_run(run_id={run_id!r}) in the client that started or "
        "answered it. Where that is out of reach, end that client, and its server with it: then the run can be "
        f"cancelled here. So can a run that waits: inspect_run(run_id={run_id!r}, wait_seconds=25) waits until it does."
    )
