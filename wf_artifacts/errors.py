"""What can go wrong between a caller and what is stored.

    WfError
    └── StoreError
        ├── NotFound                 no record has this id (each names close matches)
        │   ├── RunNotFound
        │   ├── ArtifactNotFound
        │   ├── DeploymentNotFound
        │   ├── SessionNotFound
        │   └── CallNotFound         which is an UnknownCall of the kernel, too
        ├── DeploymentExists         the id is taken and replacing was not asked for
        ├── ArtifactInUse            a deployment still needs the artifact
        ├── RunBusy                  somebody else advances the run
        │   └── ClaimLost            the claim ended before the write; nothing was written
        ├── SessionExists            the id of a session is taken
        ├── SessionBusy              somebody else advances the session
        │   └── SessionClaimLost     the claim ended before the write; nothing was written
        ├── IdempotencyConflict      the key was used with another input
        ├── InvalidId                a text that cannot be an id
        ├── InvalidCursor            a cursor that this list did not give out
        ├── InvalidStoreUrl          a store address that cannot be opened
        ├── StoreBusy                somebody else copies to the store
        ├── UnfitTarget              nothing can be copied to an address; nothing was touched
        └── StoreUnavailable         the store did not answer; nothing was done
            ├── StoreFull            there is no room left; nothing was done
            ├── StoreGone            it was moved or removed while it was in use; nothing was done
            ├── UnfinishedCopy       it holds a part of another store; nothing was done
            ├── NotAStore            what stands there is no store; nothing was done
            ├── DocumentUnreadable   one document may not be opened; the rest of the store is there
            └── DriverMissing        what speaks to the database is not installed

Documents that cannot be read raise a `wf_core.errors.StateError`: StateCorrupt, FormatTooNew, or DocumentUnreadable.
"""

from collections.abc import Sequence

from wf_core.errors import StateError, UnknownCall, WfError


class StoreError(WfError):
    """A store refused or could not do what was asked."""

    code = "store_error"


class NotFound(StoreError, LookupError):
    """No record has this id. `close` holds ids that look like it."""

    code = "not_found"

    def __init__(self, what: str, identifier: str, *, close: Sequence[str] = (), hint: str | None = None) -> None:
        matches = f"Did you mean {', '.join(close)}?" if close else hint
        super().__init__(f"There is no {what}.", hint=matches, details={"id": identifier, "close_matches": list(close)})
        self.identifier = identifier
        self.close = tuple(close)


class RunNotFound(NotFound):
    """There is no run with this id, or it belongs to somebody else."""

    code = "run_not_found"

    def __init__(self, run_id: str, *, close: Sequence[str] = ()) -> None:
        super().__init__(f"run {run_id!r}", run_id, close=close, hint="list_runs shows the runs that there are.")
        self.run_id = run_id


class ArtifactNotFound(NotFound):
    """There is no artifact with this id, or no such version of it; `versions` holds those that there are."""

    code = "artifact_not_found"

    def __init__(
        self,
        artifact_id: str,
        version: int | None = None,
        *,
        close: Sequence[str] = (),
        versions: Sequence[int] = (),
    ) -> None:
        what = f"artifact {artifact_id!r}" if version is None else f"version {version} of artifact {artifact_id!r}"
        hint = "list_artifacts shows the artifacts that there are."
        if versions:
            hint = f"It has {', '.join(map(str, versions))}."
        super().__init__(what, artifact_id, close=close, hint=hint)
        self.details["versions"] = list(versions)
        self.artifact_id = artifact_id
        self.version = version
        self.versions = tuple(versions)


class DeploymentNotFound(NotFound):
    """There is no deployment with this id."""

    code = "deployment_not_found"

    def __init__(self, deployment_id: str, *, close: Sequence[str] = ()) -> None:
        hint = "list_deployments shows the deployments that there are."
        super().__init__(f"deployment {deployment_id!r}", deployment_id, close=close, hint=hint)
        self.deployment_id = deployment_id


class SessionNotFound(NotFound):
    """There is no session with this id, or it belongs to somebody else."""

    code = "session_not_found"

    def __init__(self, session_id: str, *, close: Sequence[str] = ()) -> None:
        hint = "list_sessions shows the sessions that there are."
        super().__init__(f"session {session_id!r}", session_id, close=close, hint=hint)
        self.session_id = session_id


class CallNotFound(NotFound, UnknownCall):
    """No call waits under this token, or it belongs to somebody else."""

    code = "call_not_found"

    def __init__(self, token: str) -> None:
        super().__init__(f"call {token!r}", token, hint="list_pending shows the calls that wait.")
        self.token = token


class DeploymentExists(StoreError, ValueError):
    """The deployment id is taken. The stored deployment was left as it is."""

    code = "deployment_exists"

    def __init__(self, deployment_id: str) -> None:
        super().__init__(
            f"There is already a deployment {deployment_id!r}.",
            hint="Pass replace=true to replace it; runs that it started go on as they are.",
            details={"deployment_id": deployment_id},
        )
        self.deployment_id = deployment_id


class ArtifactInUse(StoreError):
    """Deployments need the artifact, directly or as a child of what they deploy. Nothing was deleted."""

    code = "artifact_in_use"

    def __init__(self, artifact_id: str, version: int, *, used_by: Sequence[str]) -> None:
        super().__init__(
            f"Version {version} of artifact {artifact_id!r} is used by {', '.join(used_by)}.",
            hint="Delete these deployments first.",
            details={"artifact_id": artifact_id, "version": version, "used_by": list(used_by)},
        )
        self.artifact_id = artifact_id
        self.version = version
        self.used_by = tuple(used_by)


class RunBusy(StoreError):
    """Another process or task advances the run. Nothing was changed."""

    code = "run_busy"

    def __init__(self, run_id: str, *, message: str | None = None) -> None:
        super().__init__(
            message or f"The run {run_id} is being advanced by somebody else.",
            hint=f"inspect_run(run_id={run_id!r}) shows where it stands.",
            details={"run_id": run_id},
        )
        self.run_id = run_id


class ClaimLost(RunBusy):
    """The claim had ended before the write. Nothing was written."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id, message=f"This process no longer holds the run {run_id}.")


class SessionExists(StoreError, ValueError):
    """The id of a session is taken. The stored session was left as it is."""

    code = "session_exists"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"There is already a session {session_id}.",
            hint=f"inspect_session(session_id={session_id!r}) shows where it stands.",
            details={"session_id": session_id},
        )
        self.session_id = session_id


class SessionBusy(StoreError):
    """Another process or task advances the session. Nothing was changed."""

    code = "session_busy"

    def __init__(self, session_id: str, *, message: str | None = None) -> None:
        super().__init__(
            message or f"The session {session_id} is being advanced by somebody else.",
            hint=f"inspect_session(session_id={session_id!r}) shows where it stands.",
            details={"session_id": session_id},
        )
        self.session_id = session_id


class SessionClaimLost(SessionBusy):
    """The claim had ended before the write. Nothing was written."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id, message=f"This process no longer holds the session {session_id}.")


class IdempotencyConflict(StoreError, ValueError):
    """The idempotency key already stands for a run with another input. No run was created."""

    code = "idempotency_conflict"

    def __init__(self, key: str, run_id: str) -> None:
        super().__init__(
            f"The idempotency key {key!r} was used for the run {run_id} with another input.",
            hint="Use another key for another input.",
            details={"idempotency_key": key, "run_id": run_id},
        )
        self.key = key
        self.run_id = run_id


class InvalidId(StoreError, ValueError):
    """A text cannot be an id."""

    code = "invalid_argument"

    def __init__(self, what: str, text: str) -> None:
        super().__init__(
            f"{text!r} cannot be {what}.",
            hint="Use up to 128 letters, digits, dots, hyphens and underscores; begin with a letter or a digit.",
            details={"id": text},
        )
        self.text = text


class InvalidCursor(StoreError, ValueError):
    """A cursor was not given out by the list that it was passed to."""

    code = "invalid_argument"

    def __init__(self, cursor: str) -> None:
        super().__init__(
            "The cursor does not belong to this list.",
            hint="Pass `next_cursor` of the page before, unchanged, or leave it out to begin at the first page.",
            details={"cursor": cursor[:200]},
        )
        self.cursor = cursor


class InvalidStoreUrl(StoreError, ValueError):
    """A store address cannot be opened."""

    code = "invalid_argument"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This is no address of a store: {reason}.",
            hint="Write memory://, file:///absolute/folder, sqlite:////absolute/file or postgresql://user@host/database.",
        )


class UnfitTarget(StoreError, ValueError):
    """Nothing can be copied to an address, for what it is or for what stands there. Nothing was touched."""

    code = "invalid_argument"

    def __init__(self, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"Nothing can be copied to this address: {reason}.",
            hint=hint or "Name an address where there is nothing yet; nothing was changed.",
            details={"reason": reason},
        )
        self.reason = reason


class StoreBusy(StoreError):
    """Another process or task copies to the store. Nothing was changed."""

    code = "store_busy"

    def __init__(self) -> None:
        super().__init__(
            "Another copy to this store is under way.",
            hint="Use the store once that copy has ended. If it fails or is killed, copy again, which begins anew.",
        )


class StoreUnavailable(StoreError):
    """The store did not answer. What was asked for was not done."""

    code = "store_unavailable"

    def __init__(self, document: str, reason: str) -> None:
        super().__init__(
            f"The store cannot use {document}: {reason}.",
            hint="Check that the store is there and that this process may read and write it, then try again.",
            details={"document": document, "reason": reason},
        )
        self.document = document
        self.reason = reason


class StoreFull(StoreUnavailable):
    """There is no room left. What was asked for was not done, and nothing of it was kept."""

    code = "store_full"

    def __init__(self, document: str, reason: str) -> None:
        super().__init__(document, reason)
        self.hint = "Free some space, then try again."


class StoreGone(StoreUnavailable):
    """What this process uses is not at its place any more, or something else is. What was asked for was not done."""

    def __init__(self, document: str) -> None:
        super().__init__(document, "it was moved, removed or replaced while it was in use")
        self.hint = "Put it back to where it was, or end this program and start it again to use what is there now."


class UnfinishedCopy(StoreUnavailable):
    """The store is being copied to, or was when that ended. It holds a part and is not used; nothing was done."""

    def __init__(self, document: str) -> None:
        super().__init__(document, "it holds a part of a copy that has not come to its end")
        self.hint = (
            "Wait for a copy that is under way. If there is none, copy again with `wf store copy`, which begins anew "
            "there, or use the store that was copied from."
        )


class NotAStore(StoreUnavailable):
    """What stands at the address of a database is none of ours, or must be none. Nothing was done."""

    def __init__(self, document: str, reason: str) -> None:
        super().__init__(document, reason)
        self.hint = "Name another file, one that is not there yet or holds a store; this one was left as it is."


class DocumentUnreadable(StoreUnavailable, StateError):
    """One document may not be used by this process. It says nothing about the others."""


class DriverMissing(StoreUnavailable):
    """What speaks to a database is an extra that is not installed."""

    def __init__(self, database: str, *, extra: str) -> None:
        super().__init__(database, "its driver is not installed")
        self.hint = f"Install wf-mcp[{extra}]."
