"""The source that a Python module is.

Importing the module and reading its type hints happens when the source is first used, once per process: what is
wrong then stays wrong until the next start.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from wf_artifacts.sources.models import Capability
from wf_core.calls.capability import CallContext
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import PythonModule, Redactor
from wf_mcp.sources.errors import CallFailed, CapabilityNotFound, SourceUnavailable
from wf_mcp.sources.loops import LoopThread
from wf_mcp.sources.protocol import CallResult, Diagnostic, SourceKind, SourceState, SourceStatus
from wf_mcp.sources.python.faults import describe_import
from wf_mcp.sources.python.modules import PrivateModules
from wf_mcp.sources.settings import resolve
from wf_mcp.sources.threads import ThreadedWork

if TYPE_CHECKING:
    from wf_mcp.sources.python.functions import PythonCapability

IMPORT_SECONDS = 60.0
"""How long a use of the source waits until its module is imported."""


class PythonSource:
    """The decorated functions of one module."""

    kind: SourceKind = "python"

    def __init__(
        self,
        name: str,
        record: PythonModule,
        folder: Path,
        redactor: Redactor,
        environ: Mapping[str, str],
        import_seconds: float = IMPORT_SECONDS,
    ) -> None:
        self.name = name
        self.enabled = record.enabled
        self._record = record
        self._folder = folder
        self._redactor = redactor
        self._environ = environ
        self._import_seconds = import_seconds
        self._coroutines = LoopThread(f"coroutines of {name}")
        self._modules: PrivateModules | None = None
        self._loading: ThreadedWork[dict[str, PythonCapability]] | None = None
        self._offered: dict[str, PythonCapability] | None = None
        self._failed = False
        self._diagnostics: list[Diagnostic] = []

    async def capabilities(self) -> Mapping[str, Capability]:
        return {name: function.capability for name, function in (await self._load()).items()}

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        try:
            offered = await self._load()
        except SourceUnavailable as exc:
            raise CallFailed.before(exc) from exc
        if capability not in offered:
            known = [function.capability.full_name for function in offered.values()]
            raise CallFailed.before(CapabilityNotFound(f"{self.name}.{capability}", known))
        return await offered[capability].call(input, context, self._redactor, self._coroutines)

    def status(self) -> SourceStatus:
        diagnostics, count = self._diagnostics, None if self._offered is None else len(self._offered)
        state: SourceState = "unavailable" if self._failed else "idle" if self._offered is None else "ready"
        try:
            resolve(self.name, self._record, self._environ)
        except SourceUnavailable as exc:
            state, diagnostics = "unavailable" if self.enabled else "disabled", [Diagnostic.of(exc)]
        return SourceStatus(self.name, self.kind, self.enabled, state, count, tuple(diagnostics))

    async def close(self) -> None:
        await self._coroutines.close()
        if self._modules is not None:
            self._modules.close()

    async def _load(self) -> dict[str, PythonCapability]:
        """Load the module, all callers together: being cancelled ends the wait of one, not the import."""
        record = resolve(self.name, self._record, self._environ)
        if self._loading is None:
            self._modules = PrivateModules(self._folder / record.path)
            self._loading = ThreadedWork(lambda: self._import(record.module), name=f"import {self.name}")
        try:
            with anyio.fail_after(self._import_seconds):
                return await self._loading.result()
        except TimeoutError:
            message = f"The source {self.name} is still being imported after {self._import_seconds:g} seconds."
            raise SourceUnavailable(self.name, message, hint="The next use looks again.") from None

    def _import(self, module: str) -> dict[str, PythonCapability]:
        # Imported with the first source that needs it: it brings in the schema compiler, which not every start needs.
        from wf_mcp.sources.python.functions import read_module  # noqa: PLC0415

        assert self._modules is not None  # noqa: S101
        try:
            self._offered, self._diagnostics = read_module(self.name, self._modules.load(module), self._redactor)
        except BaseException as exc:  # noqa: BLE001  # SystemExit, too, is only the module's
            reason = describe_import(exc, self._modules, self._redactor)
            error = SourceUnavailable(
                self.name, f"The source {self.name} cannot be imported: {reason}.", hint="Correct it and restart."
            )
            self._failed, self._diagnostics = True, [Diagnostic.of(error)]
            raise error from None
        return self._offered
