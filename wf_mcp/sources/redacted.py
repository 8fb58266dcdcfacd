"""A source as the rest of the program sees it: nothing that it says holds a secret."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from wf_artifacts.sources.models import Capability
from wf_core.calls.capability import CallContext
from wf_core.errors import WfError
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import Redactor
from wf_mcp.sources.errors import CallFailed, SourceUnavailable
from wf_mcp.sources.protocol import (
    CallResult,
    CapabilitySource,
    Diagnostic,
    SourceKind,
    SourceStatus,
    offered_since,
)


class RedactedSource:
    """Passes everything on to a source, and back without secrets: errors whole, with their codes and details.

    Results it leaves alone: a source takes them in without secrets, and they may be large.
    """

    def __init__(self, source: CapabilitySource, redactor: Redactor) -> None:
        self._source = source
        self._redactor = redactor

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def kind(self) -> SourceKind:
        return self._source.kind

    @property
    def enabled(self) -> bool:
        return self._source.enabled

    async def capabilities(self) -> Mapping[str, Capability]:
        try:
            return await self._source.capabilities()
        except SourceUnavailable as exc:
            self._redact(exc)
            raise

    async def capabilities_since(self, moment: float) -> Mapping[str, Capability]:
        try:
            return await offered_since(self._source, moment)
        except SourceUnavailable as exc:
            self._redact(exc)
            raise

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        try:
            return await self._source.call(capability, input, context)
        except CallFailed as exc:
            self._redact(exc)
            exc.code = self._redactor.text(exc.code)
            raise

    def status(self) -> SourceStatus:
        status = self._source.status()
        return replace(status, diagnostics=tuple(map(self._told, status.diagnostics)))

    async def close(self) -> None:
        await self._source.close()

    def _told(self, diagnostic: Diagnostic) -> Diagnostic:
        hint = None if diagnostic.hint is None else self._redactor.text(diagnostic.hint)
        return replace(diagnostic, message=self._redactor.text(diagnostic.message), hint=hint)

    def _redact(self, error: WfError) -> None:
        error.message = self._redactor.text(error.message)
        error.args = (error.message,)
        error.hint = None if error.hint is None else self._redactor.text(error.hint)
        error.details = cast("dict[str, Any]", self._redactor.json(error.details))
