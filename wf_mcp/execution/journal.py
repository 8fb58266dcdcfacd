"""A claimed run on its way: the inputs it is given, and what of them is stored, and when.

Two things have to be on disk before anything else is done: that an attempt begins which may not be repeated without
asking, and what is acknowledged to somebody. The first is appended and synced; the second is committed with a
checkpoint, for it also changes what others see of the run. Every other input is appended a moment later, together with
those around it, and is on disk with the next of the two. What a crash loses of it is only what may be done again.

A checkpoint holds all inputs before it, so the journal after it stays short: it is folded into the next checkpoint
once it has grown past a multiple of the state.
"""

from contextlib import suppress
from time import monotonic
from typing import Literal

import anyio

from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.store import Claim
from wf_core.codec import dump_run
from wf_core.codec.inputs import dump_input
from wf_core.errors import WfError
from wf_core.runtime import Program, Ready, Stopped, Waiting
from wf_core.runtime.inputs import Input, apply
from wf_core.state import RunState
from wf_mcp.execution.means import Means
from wf_mcp.execution.records import describe

BUFFERED_SECONDS = 0.05
"""How long an input waits for others at most before it is appended."""

BUFFERED_BYTES = 64 * 1024
"""How many bytes of inputs wait for others at most."""

WHOLE_SECONDS = 1.0
"""How long inputs wait that cannot be appended, so that the run is stored whole."""

ASKED_SECONDS = 0.5
"""How long a question that opens while other steps go on stays unseen at most: others may open beside it."""

LEAST_FOLDED_BYTES = 512 * 1024
STATES_TO_FOLD = 4
"""A journal is folded once it is longer than this many times the state, and than `LEAST_FOLDED_BYTES`."""

TOLD_SECONDS = 1.0
"""How often listeners are told at most that something was appended. Of each commit they are told."""

Manner = Literal["appended", "whole", "stops"]
"""How inputs are kept between two stops: in the journal; in a checkpoint each time, because the run goes on with other
contracts than a replay would use; or not at all, because the deployment asks for that."""


class Journal:
    """A run that is held by this process, and the way to its store."""

    def __init__(
        self,
        means: Means,
        claim: Claim,
        program: Program,
        run: RunState,
        record: RunRecord,
        environment: PinnedEnvironment,
        *,
        manner: Manner,
    ) -> None:
        self.claim = claim
        self.program = program
        self.run = run
        self.record = record
        """As it was last committed."""
        self.environment = environment
        self._means = means
        self._manner = manner
        self._waiting: list[JournalRecord] = []
        self._waiting_bytes = 0
        self._waiting_since = 0.0
        self._grown = 0
        """Bytes of inputs since the latest checkpoint."""
        self._folded_at = LEAST_FOLDED_BYTES
        self._asked = run.counters.interrupt
        """The number of the first question that was not open yet at the last commit."""
        self._asks_since: float | None = None
        """When a question opened that the record does not show."""
        self._told_at = 0.0
        self._outstanding = False
        """Whether what was appended last is not known to be on disk, and is to be."""
        self._broken = False
        """A write failed, so what is stored may be less than what was applied: nothing more is to follow it."""

    def apply(self, given: Input) -> Ready | Waiting | Stopped | None:
        """Give the run an input, and keep it for the next write.

        Raises:
            RunRefused: the input is not taken; the run is as it was.
        """
        work = apply(self.program, self.run, given)
        line = dump_input(given) if self._manner == "appended" else b""
        trace = tuple(self.run.take_trace())
        if not self._waiting:
            self._waiting_since = monotonic()
        if self._asks_since is None and self.run.counters.interrupt > self._asked:
            self._asks_since = monotonic()
        self._waiting.append(JournalRecord(line, trace, self.run.steps_executed, self.run.position))
        size = len(line) + sum(map(len, trace))
        self._waiting_bytes += size
        self._grown += size
        return work

    @property
    def due_at(self) -> float | None:
        """When something is to be written; None where nothing is."""
        moments = [moment for moment in (self._write_at, self._show_at) if moment is not None]
        return min(moments, default=None)

    async def write_if_due(self) -> None:
        """Write what has waited long enough, or is enough.

        Raises:
            StoreUnavailable, StoreFull: the run stands as it was last written.
        """
        now = monotonic()
        if self._show_at is not None and now >= self._show_at:
            await self.commit("running")
        elif self._write_at is not None and now >= self._write_at:
            await self.write(sync=False)

    async def write(self, *, sync: bool) -> None:
        """Write every input that was applied; with `sync` it is on disk after `synced`, as far as the deployment asks.

        Raises:
            StoreUnavailable, StoreFull: the run stands as it was last written.
        """
        if self._grown > self._folded_at or self._manner == "whole":
            await self.commit("running")
        elif self._manner == "appended":
            await self._append(sync=sync)

    async def synced(self) -> None:
        """Wait until what was written with `sync` is on disk.

        Raises:
            StoreUnavailable, StoreFull: what of it is stored is not known.
        """
        if self._outstanding:
            try:
                await self._means.store.synced(self.claim)
            except BaseException:
                self._broken = True
                raise
            self._outstanding = False

    async def commit(self, reason: str) -> None:
        """Store where the run stands in one step: its state, its record, and the trace entries since the last write.

        Raises:
            StoreUnavailable, StoreFull: the run stands as it was last written.
        """
        now, sequence, state = self._means.clock.now(), self.record.checkpoint + 1, dump_run(self.run)
        record = describe(self.run, self.record, checkpoint=sequence, now=now)
        checkpoint = Checkpoint(record.run_id, sequence, reason, state, now)
        trace = [entry for waiting in self._waiting for entry in waiting.trace]
        # Whether a write that began has happened must be known here, also when the task is cancelled meanwhile.
        with anyio.CancelScope(shield=True):
            try:
                await self._means.store.commit(self.claim, record, checkpoint=checkpoint, trace=trace)
            except BaseException:
                self._broken = True
                raise
        self._written()
        self.record = record
        self._grown = 0
        self._asked, self._asks_since = self.run.counters.interrupt, None
        self._folded_at = max(LEAST_FOLDED_BYTES, STATES_TO_FOLD * len(state))
        self._tell()

    async def leave(self) -> None:
        """Write what can still be written, and let others advance the run."""
        with anyio.CancelScope(shield=True):
            if self._waiting and self._manner == "appended" and not self._broken:
                with suppress(WfError):
                    await self._append(sync=False)
            await self.claim.release()

    @property
    def _write_at(self) -> float | None:
        if not self._waiting or (self._manner == "stops" and self._grown <= self._folded_at):
            return None
        if self._waiting_bytes >= BUFFERED_BYTES:
            return self._waiting_since
        return self._waiting_since + (BUFFERED_SECONDS if self._manner == "appended" else WHOLE_SECONDS)

    @property
    def _show_at(self) -> float | None:
        return None if self._asks_since is None else self._asks_since + ASKED_SECONDS

    async def _append(self, *, sync: bool) -> None:
        try:
            await self._means.store.append(self.claim, self._waiting, sync=sync)
        except BaseException:
            self._broken = True
            raise
        self._outstanding |= sync
        self._written()
        if monotonic() >= self._told_at + TOLD_SECONDS:
            self._tell()

    def _written(self) -> None:
        self._waiting = []
        self._waiting_bytes = 0

    def _tell(self) -> None:
        self._told_at = monotonic()
        self._means.changes.tell(self.record.run_id)
