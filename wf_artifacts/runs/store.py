"""The contract of every store of runs.

A run is changed only through a claim, which one holder has at a time and which ends with its process. Every change is
one step: record, checkpoint and trace are seen in their state before it or after it, by a reader in any process, also
after a crash. What a method returned from is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.storage.pages import Page
from wf_core.ids import DeploymentId, RunId
from wf_core.state import RunStatus


class Claim(Protocol):
    """The right to advance one run, held until it is released or the process ends."""

    @property
    def run_id(self) -> RunId: ...

    async def release(self) -> None:
        """Let others advance the run. Works in a cancelled task too; releasing again does nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release it."""
        ...


@dataclass(frozen=True, slots=True)
class Created:
    """What became of the wish for a new run."""

    record: RunRecord
    created: bool
    """False when an idempotency key named an earlier run, which `record` then is."""
    claim: Claim | None
    """Held from the first instant of a new run. None when `created` is false."""


class RunStore(Protocol):
    """Keeps runs.

    A write that began is finished even if the caller is cancelled. Every method may raise:
        RunNotFound: there is no such run, with close ids; a text that cannot be an id of a run included.
        StateError: a stored document that it needs cannot be read; the document was left alone.
        StoreUnavailable, StoreFull: nothing was changed.
    """

    async def create(
        self,
        record: RunRecord,
        environment: PinnedEnvironment,
        checkpoint: Checkpoint,
        *,
        trace: Sequence[bytes] = (),
    ) -> Created:
        """Create a run with its definitions and a checkpoint, and claim it.

        The checkpoint is the first, unless the run comes from another store. Where the record has an idempotency key
        that stands for an earlier run of the same principal and deployment with the same `input_digest`, nothing is
        created and that run is given. Of several creations with one key at the same instant one creates. A key is used
        up only by a run that was created, and free again once that run is deleted.

        Raises:
            IdempotencyConflict: the key stands for a run with another input; nothing was created.
            NotJson: a value is no strict JSON; nothing was created.
        """
        ...

    async def earlier(self, record: RunRecord) -> RunRecord | None:
        """Give the run that `create` would give in the place of a new one: that of the record's idempotency key.

        Raises:
            IdempotencyConflict: the key stands for a run with another input.
        """
        ...

    async def claim(self, run_id: RunId) -> Claim:
        """Take the right to advance a run.

        Read the run after this, not before: another holder may have advanced it in between.

        Raises:
            RunBusy: somebody holds it: another process, or another task of this one.
        """
        ...

    async def is_claimed(self, run_id: RunId) -> bool:
        """Tell whether somebody holds the right to advance the run at this moment. Never disturbs a claim."""
        ...

    async def commit(
        self,
        claim: Claim,
        record: RunRecord,
        *,
        checkpoint: Checkpoint | None = None,
        trace: Sequence[bytes] = (),
    ) -> None:
        """Store the next state of a claimed run, in one step.

        `trace` are the entries made since the commit or append before, one compact JSON object each. The record counts
        them in, and names the new checkpoint, whose sequence is one above the latest; without a new one it names the
        latest. A new checkpoint holds all that was appended: the journal is empty after it.

        Raises:
            ClaimLost: the claim was released, or has passed to somebody else; nothing was written.
            NotJson: a value is no strict JSON; nothing was written.
            ValueError: record, checkpoint and trace do not fit together or do not follow what is stored.
        """
        ...

    async def append(self, claim: Claim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        """Store inputs that a claimed run was given, and give how many bytes of them its latest checkpoint lacks.

        Costs what the records cost, whatever was stored before. Readers see their trace entries and steps at once.
        They survive this process, but perhaps not the machine; then the last of them are missing, never one in the
        middle. With `sync` they, and all that was appended before, are on disk once `synced` was awaited, which is to
        follow before anybody is told of them. A commit with a checkpoint holds everything that was appended.

        It is carried out also for a caller that is cancelled already, who so always learns whether it was.

        Raises:
            ClaimLost: the claim was released, or has passed to somebody else; nothing was written.
            ValueError: the records do not follow what was appended before; nothing was written.
        """
        ...

    async def synced(self, claim: Claim) -> None:
        """Wait until what was appended with `sync` is on disk.

        Raises:
            ClaimLost: the claim was released, or has passed to somebody else.
            StoreUnavailable, StoreFull: it could not be brought there; what of it is stored is not known.
        """
        ...

    async def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        """Give the record of a run. With a principal, the runs of others do not exist, close ids included."""
        ...

    async def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        """Give the definitions that the run started with. What is given is shared."""
        ...

    async def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        """Give the latest checkpoint."""
        ...

    async def load_journal(self, run_id: RunId) -> list[bytes]:
        """Give what was appended since the latest checkpoint, the oldest first.

        Each is one line of compact JSON: `{"position": n, "input": {…}, "trace": [entries…]}`.
        """
        ...

    async def abandoned(self) -> list[RunId]:
        """Give the runs with status `running` that nobody holds, the newest first; none that cannot be read.

        Costs what the running runs cost, not all that are kept.
        """
        ...

    async def read_trace(self, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
        """Give up to `limit` entries from number `start`, counted from 0; fewer at the end, none beyond it.

        The cost is that of the entries read, not of those before them.
        """
        ...

    async def list_runs(
        self,
        *,
        principal: str | None,
        status: RunStatus | None = None,
        deployment_id: DeploymentId | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[RunRecord]:
        """Give up to `limit` runs, the newest first: by run id, which begins with the time of creation.

        `principal` None means the runs of everybody. Walking the pages meets every run that was there all along exactly
        once. A run that cannot be read is in `Page.damaged` of every list that it may belong to.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def delete(self, run_id: RunId) -> None:
        """Delete a run with everything that is kept of it.

        Raises:
            RunBusy: somebody holds it; nothing was deleted.
        """
        ...
