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
from typing import Any
from weakref import WeakValueDictionary

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from wf_artifacts.catalog.models import Deployment
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, RunRecord
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract
from wf_core.codec import dump_run, load_run
from wf_core.errors import RunNotInterrupted, StaleInterrupt, WfError
from wf_core.ids import RunId, run_id
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer, Program, cancel, compile_program, resume, start
from wf_core.state import FINAL
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.advance import Means, advance, store
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.live import CancelAsked, LiveRun, Progress
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


class RunDriver:
    """Starts, answers, cancels and advances runs in tasks of the application."""

    def __init__(self, means: Means, tasks: TaskGroup, random_bits: Callable[[], int]) -> None:
        self._means = means
        self._tasks = tasks
        self._random_bits = random_bits
        self._live: dict[RunId, LiveRun] = {}
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
        blank = self._blank(environment.deployment, workflow_input, principal, idempotency_key, now)
        program = await _compile(environment, pins.pinned_contracts(environment))
        run = start(program, run_id=blank.run_id, input=workflow_input)
        record = describe(run, blank, checkpoint=1, now=now)
        checkpoint = Checkpoint(record.run_id, 1, "started", dump_run(run), now)

        async def create() -> Handle:
            made = await self._means.store.create(record, environment, checkpoint, trace=run.take_trace())
            if made.claim is not None:
                self._launch(LiveRun(made.claim, program, run, made.record, environment))
            return self.handle(made.record.run_id)

        return await owned(self._tasks, create)

    async def earlier(
        self, deployment: Deployment, workflow_input: JsonValue, *, principal: str, idempotency_key: str
    ) -> Handle | None:
        """Give the run that an idempotency key names already, if any.

        Raises:
            IdempotencyConflict: the key names a run with another input.
        """
        now = self._means.clock.now()
        blank = self._blank(deployment, workflow_input, principal, idempotency_key, now)
        found = await self._means.store.earlier(blank)
        return None if found is None else self.handle(found.run_id)

    async def answer(self, run_id: RunId, answer: Answer) -> Handle:
        """Answer a question of a run, and advance it; the answer is stored before anything is done about it.

        A run that this process advances takes the answer while its other steps go on.

        Raises:
            RunRefused: the answer is not taken (the subclasses say why); the stored run is as it was.
            RunBlocked: what the run was started with is not there any more; the stored run is as it was.
            RunBusy: another process advances the run.
            StoreFull, StoreUnavailable: the answer was not taken.
        """

        async def take() -> Handle:
            while True:
                async with self._turn(run_id):
                    live = self._live.get(run_id)
                    if live is None:
                        return await self._answer_at_rest(run_id, answer)
                if await live.answer(answer):
                    return Handle(run_id, live)
                if live.fault:
                    raise live.fault
                # It stopped before it heard of the answer: look again.

        return await owned(self._tasks, take)

    async def cancel(self, run_id: RunId, *, reason: str | None) -> None:
        """End a run for good, whatever it is doing. One that is over stays as it is.

        Raises:
            RunBusy: another process advances the run.
            StoreFull, StoreUnavailable: the run is as it was last stored.
        """

        async def end() -> None:
            while True:
                async with self._turn(run_id):
                    live = self._live.get(run_id)
                    if live is None:
                        return await self._cancel_at_rest(run_id, reason)
                live.post(CancelAsked(reason))
                await live.wait()
                if live.fault:
                    raise live.fault
                # It may have stopped at a question before it heard of the wish: look again.

        await owned(self._tasks, end)

    async def wait(self, handle: Handle, *, seconds: float, progress: Progress | None = None) -> None:
        """Wait for at most `seconds` until the run stops. It goes on afterwards, also when the waiting is cancelled.

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
        if handle.live is not None and handle.live.fault is not None:
            raise handle.live.fault

    def _blank(
        self, deployment: Deployment, workflow_input: JsonValue, principal: str, key: str | None, now: datetime
    ) -> RunRecord:
        """Give the record of a run that is to be created."""
        return RunRecord(
            run_id=run_id(now, self._random_bits()),
            principal=principal,
            deployment_id=deployment.deployment_id,
            artifact_id=deployment.artifact_id,
            artifact_version=deployment.artifact_version,
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

    async def _answer_at_rest(self, run_id: RunId, answer: Answer) -> Handle:
        async with self._claim(run_id) as claim:
            record, environment = await self._read(run_id)
            if record.status == "running":
                raise _left_behind(record, answer)
            contracts = await self._live_contracts(record, environment)
            live = await self._load(claim, record, environment, contracts)
            resume(live.program, live.run, answer, now=self._means.clock.now())
            await store(self._means, live, "answered")
            self._launch(live)
            return self.handle(run_id)

    async def _cancel_at_rest(self, run_id: RunId, reason: str | None) -> None:
        async with self._claim(run_id) as claim:
            record, environment = await self._read(run_id)
            live = await self._load(claim, record, environment, pins.pinned_contracts(environment))
            if live.run.status not in FINAL:
                cancel(live.program, live.run, reason=reason, now=self._means.clock.now())
                await store(self._means, live, "cancelled")

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
            if live is None or live.claim is not claim:
                await claim.release()

    async def _read(self, run_id: RunId) -> tuple[RunRecord, PinnedEnvironment]:
        return await self._means.store.load(run_id), await self._means.store.load_environment(run_id)

    async def _live_contracts(self, record: RunRecord, environment: PinnedEnvironment) -> dict[str, Contract]:
        """Compare the pin with what the sources offer now; a run that is over needs nothing of them.

        Raises:
            RunBlocked: something is missing, switched off, or changed in a way that the plan notices.
        """
        if record.status in FINAL:
            return pins.pinned_contracts(environment)
        readiness = pins.readiness(environment, await pins.ask(self._means.registry, pins.names(environment)))
        if not readiness.ready:
            raise RunBlocked(record.run_id, [issue.as_json() for issue in readiness.errors])
        return readiness.contracts

    async def _load(
        self, claim: Claim, record: RunRecord, environment: PinnedEnvironment, contracts: dict[str, Contract]
    ) -> LiveRun:
        checkpoint = await self._means.store.load_checkpoint(record.run_id)
        program = await _compile(environment, contracts)
        return LiveRun(claim, program, load_run(checkpoint.state), record, environment)

    def _launch(self, live: LiveRun) -> None:
        self._live[live.record.run_id] = live
        self._tasks.start_soon(self._drive, live)

    async def _drive(self, live: LiveRun) -> None:
        """Advance a run to its next stop. Whatever happens, its claim is given back and its waiters are told."""
        try:
            await advance(self._means, live, lambda: self._settle(live, None))
        except* WfError as group:
            await self._settle(live, _first(group))
        except* Exception:
            logger.exception("Advancing the run %s failed", live.record.run_id)
            await self._settle(live, AdvancingFailed(live.record.run_id))
        finally:
            await self._settle(live, ShuttingDown())

    async def _settle(self, live: LiveRun, fault: WfError | None) -> None:
        """Put down a run that is not advanced any more; the first word about why counts."""
        if self._live.get(live.record.run_id) is not live:
            return
        live.fault = fault
        with anyio.CancelScope(shield=True):
            await live.claim.release()
        del self._live[live.record.run_id]
        live.end()


async def _compile(environment: PinnedEnvironment, contracts: dict[str, Contract]) -> Program:
    children: dict[tuple[str, int], dict[str, Any]] = {
        (child.artifact_id, child.version): child.plan for child in environment.children
    }
    # In a thread: a long plan takes its time, and others are served meanwhile.
    return await to_thread.run_sync(
        partial(compile_program, environment.artifact.plan, contracts=contracts, children=children)
    )


def _left_behind(record: RunRecord, answer: Answer) -> WfError:
    """Say why a run that its process left in the middle of other steps takes no answer."""
    hint = f"inspect_run(run_id={record.run_id!r}) shows where it stands."
    if answer.interrupt_id in (None, *(interrupt["id"] for interrupt in record.interrupts)):
        message = f"The run {record.run_id} did not stop at a question: its process ended in the middle of other steps."
        return RunNotInterrupted(message, hint=hint)
    return StaleInterrupt(f"The question {answer.interrupt_id} of the run {record.run_id} is not open.", hint=hint)


def _first(group: ExceptionGroup[WfError]) -> WfError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
