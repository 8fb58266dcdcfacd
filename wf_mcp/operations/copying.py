"""Copying everything from one store to another, whatever keeps them.

Nothing is overwritten: the target is empty, or holds what an earlier copy left that came to no end, which goes first.
It is held, so that no other copy touches it, for as long as the copy works; and marked as a part, and refused to
everybody else, until everything is there. Each run and each session is held while it is copied, so that it does not
move on meanwhile, and everything is read back from the target and compared.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar, cast

from anyio import to_thread

from wf_artifacts.calls.models import CachedResult, Waiting
from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.errors import NotFound
from wf_artifacts.runs.models import JournalRecord, RunRecord
from wf_artifacts.runs.store import Claim
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.storage.pages import Pages
from wf_artifacts.storage.unfinished import Target
from wf_artifacts.stores import Stores, may_be_there, open_stores, require_target
from wf_core import jsonvalue
from wf_core.errors import StateCorrupt, StateError, WfError
from wf_core.ids import ArtifactId
from wf_mcp.errors import InvalidArgument
from wf_mcp.execution.live import Progress
from wf_mcp.operations.models import Answer, Diagnostic
from wf_mcp.operations.summaries import unusable

T = TypeVar("T")

_PAGE: Final = 100
_ENTRIES_AT_ONCE: Final = 1000
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
"""Before any call expires."""


class CopiedStore(Answer):
    """How much was copied, read back, and found to be the same."""

    artifacts: int
    """Versions."""
    deployments: int
    runs: int
    sessions: int
    calls: int
    """Calls that wait, or waited, for the outside."""
    cached_results: int
    left_out: list[Diagnostic]
    """What cannot be read where it is, or needs what is not there."""


async def copy_store(source: str, target: str, *, progress: Progress | None = None) -> CopiedStore:
    """Copy everything from the store at one address to the empty one at another.

    Raises:
        InvalidArgument, InvalidStoreUrl: there is nothing to copy, the target holds something or is the source, or an
            address is none; nothing was written.
        UnfitTarget: the target is a part of another store, or what stands there is none; nothing was touched.
        StoreBusy: somebody else copies to the target; nothing was written.
        RunBusy, SessionBusy: somebody advances a run or a session of the source. The target holds a part.
        StateCorrupt: something came out otherwise than it was. The target is of no use.
        StoreUnavailable, StoreFull: the copy ended there. The target holds a part.
    """
    if not await to_thread.run_sync(may_be_there, source):
        raise InvalidArgument(
            "There is no store at the address to copy from.", hint="Look at its spelling; nothing was copied or made."
        )
    await to_thread.run_sync(partial(require_target, target, source=source))
    async with open_stores(source) as origin, open_stores(target, to_copy_to=True) as copy:
        await origin.catalog.last_versions()  # whoever cannot be read from leaves the target as it is
        if copy.target is not None:
            await to_thread.run_sync(copy.target.hold)
            await _require_another(origin.target, copy.target)
            await to_thread.run_sync(copy.target.clear)
            if not await to_thread.run_sync(copy.target.begin):
                raise InvalidArgument(
                    "The target holds something already.",
                    hint="Name an address where there is nothing yet; nothing is merged.",
                )
        copied = await _Copying(origin, copy, progress).everything()
        if copy.target is not None:
            await to_thread.run_sync(copy.target.finish)
        return copied


class _Copying:
    """One copy under way."""

    def __init__(self, origin: Stores, copy: Stores, progress: Progress | None) -> None:
        self._origin = origin
        self._copy = copy
        self._progress = progress
        self._done = 0
        self._left_out: list[Diagnostic] = []

    async def everything(self) -> CopiedStore:
        """Copy artifacts first, because deployments need them."""
        artifacts = 0
        for artifact_id, last in sorted((await self._origin.catalog.last_versions()).items()):
            artifacts += await self._artifact(artifact_id, last)
        self._left_out += [unusable(error) for error in await to_thread.run_sync(self._origin.lacking)]
        return CopiedStore(
            artifacts=artifacts,
            deployments=await self._each(self._origin.catalog.list_deployments, self._deployment),
            runs=await self._each(partial(self._origin.runs.list_runs, principal=None), self._run),
            sessions=await self._each(partial(self._origin.sessions.list_sessions, principal=None), self._session),
            calls=await self._each(self._origin.continuations.list_all, self._call),
            cached_results=await self._each(self._origin.cache.list_all, self._cached_result),
            left_out=self._left_out,
        )

    async def _artifact(self, artifact_id: ArtifactId, last: int) -> int:
        versions = [version async for version in self._versions(artifact_id, last)]
        await self._copy.catalog.restore_artifact(artifact_id, versions, last=last)
        for version in versions:
            _require_same(version, await self._copy.catalog.load_artifact(artifact_id, version.version), artifact_id)
        await self._tell(artifact_id)
        return len(versions)

    async def _versions(self, artifact_id: ArtifactId, last: int) -> AsyncIterator[Artifact]:
        for number in range(1, last + 1):
            try:
                yield await self._origin.catalog.load_artifact(artifact_id, number)
            except NotFound:
                continue
            except StateError as error:
                self._left_out.append(unusable(error))

    async def _deployment(self, deployment: Deployment) -> None:
        await self._copy.catalog.save_deployment(deployment, replace=False)
        stored = await self._copy.catalog.load_deployment(deployment.deployment_id)
        _require_same(deployment, stored, deployment.deployment_id)

    async def _run(self, listed: RunRecord) -> None:
        run_id, origin, copy = listed.run_id, self._origin.runs, self._copy.runs
        async with await origin.claim(run_id):
            record = await origin.load(run_id)
            environment, checkpoint = await origin.load_environment(run_id), await origin.load_checkpoint(run_id)
            journal = _parsed(await origin.load_journal(run_id))
            created = await copy.create(record.model_copy(update={"trace_count": 0}), environment, checkpoint)
            if created.claim is None:
                raise _otherwise(run_id)
            try:
                async with created.claim as claim:
                    await self._trace(claim, record, record.trace_count - sum(len(line["trace"]) for line in journal))
                    await copy.append(claim, _records(record, journal), sync=True)
                    await copy.synced(claim)
            except StateError:
                await copy.delete(run_id)
                raise
            _require_same(record, await copy.load(run_id), run_id)
            _require_same(environment, await copy.load_environment(run_id), run_id)
            _require_same(checkpoint, await copy.load_checkpoint(run_id), run_id)
            _require_same(journal, _parsed(await copy.load_journal(run_id)), run_id)
            for start in range(0, record.trace_count, _ENTRIES_AT_ONCE):
                entries = await origin.read_trace(run_id, start, _ENTRIES_AT_ONCE)
                _require_same(entries, await copy.read_trace(run_id, start, _ENTRIES_AT_ONCE), run_id)

    async def _trace(self, claim: Claim, record: RunRecord, count: int) -> None:
        """Copy the first entries of a trace; those that follow come with the journal."""
        for start in range(0, count, _ENTRIES_AT_ONCE):
            end = min(count, start + _ENTRIES_AT_ONCE)
            entries = await self._origin.runs.read_trace(record.run_id, start, end - start)
            moved = record.model_copy(update={"trace_count": end})
            await self._copy.runs.commit(claim, moved, trace=[jsonvalue.dumps(entry) for entry in entries])

    async def _session(self, listed: SessionRecord) -> None:
        session_id = listed.session_id
        async with await self._origin.sessions.claim(session_id):
            stored = await self._origin.sessions.load(session_id)
            await (await self._copy.sessions.create(stored.record, stored.header, stored.events)).release()
            _require_same(stored, await self._copy.sessions.load(session_id), session_id)

    async def _call(self, waiting: Waiting) -> None:
        await self._copy.continuations.restore(waiting)
        found = await self._copy.continuations.load(waiting.token, principal=None, now=_NEVER)
        _require_same(waiting, found, waiting.token)

    async def _cached_result(self, entry: CachedResult) -> None:
        await self._copy.cache.put(entry.key, entry.result, now=entry.created_at)
        _require_same(entry.result, await self._copy.cache.get(entry.key), entry.key)

    async def _each(self, pages: Pages[T], copy: Callable[[T], Awaitable[None]]) -> int:
        """Copy every item of a list, and count them. What cannot be read, or lacks what it needs, is left out."""
        count, cursor = 0, None
        while True:
            found = await pages(cursor=cursor, limit=_PAGE)
            self._left_out += [unusable(damaged.error) for damaged in found.damaged]
            for item in found.items:
                try:
                    await copy(item)
                except (StateError, NotFound) as error:
                    if isinstance(error, _Otherwise):
                        raise
                    self._left_out.append(unusable(error))
                else:
                    count += 1
                    await self._tell(f"{count}")
            cursor = found.next_cursor
            if cursor is None:
                return count

    async def _tell(self, what: str) -> None:
        self._done += 1
        if self._progress is not None:
            await self._progress(self._done, what)


class _Otherwise(StateCorrupt):
    """What was read back is not what was written."""


async def _require_another(source: Target | None, target: Target) -> None:
    """Be sure that the source is not the target that was just held, whatever its address."""
    held = await to_thread.run_sync(target.holder)
    if source is not None and held is not None and held == await to_thread.run_sync(source.holder):
        raise InvalidArgument(
            "The source and the target are the same store.",
            hint="Name an address where there is nothing yet; nothing was changed.",
        )


def _records(record: RunRecord, journal: list[dict[str, Any]]) -> list[JournalRecord]:
    """Write the inputs since the checkpoint anew. How many steps were executed matters of the last one alone."""
    return [
        JournalRecord(
            line=jsonvalue.dumps(line["input"]),
            trace=tuple(jsonvalue.dumps(entry) for entry in line["trace"]),
            steps_executed=record.steps_executed,
            position=line["position"],
        )
        for line in journal
    ]


def _parsed(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", jsonvalue.loads(line)) for line in lines]


def _require_same(written: object, read: object, what: str) -> None:
    if written != read:
        raise _otherwise(what)


def _otherwise(what: str) -> WfError:
    return _Otherwise(
        f"{what} came out of the target otherwise than it was.",
        hint="Do not use the target; the source is as it was.",
        details={"id": what},
    )
