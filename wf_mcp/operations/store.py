"""What an operator asks of the store as a whole."""

from typing import Literal

from wf_artifacts.storage.findings import Finding
from wf_mcp.app import App
from wf_mcp.execution.live import Progress
from wf_mcp.operations.models import Answer


class StoreFinding(Answer):
    """A file or a row that is not as it should be."""

    document: str
    kind: Literal["damaged", "newer", "orphaned", "leftover", "unknown"]
    problem: str
    repair: str | None
    """What a repair does about it. None where it can do nothing."""


class StoreReport(Answer):
    """Everything that is not as it should be."""

    repaired: list[StoreFinding]
    """What was found and is not any more."""
    left: list[StoreFinding]
    """What is to be looked after: by a repair where it says so, else by a person."""


async def examine_store(app: App, *, repair: bool = False, progress: Progress | None = None) -> StoreReport:
    """Read everything that is stored; with `repair`, do what each finding says, and read it again.

    Raises:
        StoreUnavailable, StoreFull: the examination ended there.
    """
    found = await _findings(app, progress, repair=repair)
    left = await _findings(app, progress, repair=False) if repair and found else found
    return StoreReport(repaired=[finding for finding in found if finding not in left], left=left)


async def _findings(app: App, progress: Progress | None, *, repair: bool) -> list[StoreFinding]:
    found: list[StoreFinding] = []
    async for finding in app.stores.examine(repair=repair):
        found.append(_told(finding))
        if progress is not None:
            await progress(len(found), finding.document)
    return found


def _told(finding: Finding) -> StoreFinding:
    return StoreFinding(document=finding.document, kind=finding.kind, problem=finding.problem, repair=finding.repair)
