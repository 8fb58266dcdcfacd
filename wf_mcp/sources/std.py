"""The built-in source, `wf.std`: the pure capabilities of wf_core, and those that need a clock or chance."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

import anyio

from wf_artifacts.clock import Clock
from wf_artifacts.sources.models import Capability, contract_digest
from wf_core.calls.capability import CallContext
from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue, clone
from wf_core.std.capabilities import STD
from wf_core.times import iso
from wf_mcp.sources.errors import CallFailed, CapabilityNotFound
from wf_mcp.sources.protocol import CallResult, SourceKind, SourceStatus


def random_uuid() -> str:
    return str(uuid4())


class StdSource:
    """Always there, and always on."""

    kind: SourceKind = "std"
    enabled = True

    def __init__(self, name: str, clock: Clock, new_uuid: Callable[[], str] = random_uuid) -> None:
        self.name = name
        self._clock = clock
        self._new_uuid = new_uuid
        self._offered = MappingProxyType(
            {
                std.name: Capability(
                    name, std.name, std.title, std.description, std.contract, contract_digest(std.contract)
                )
                for std in STD.values()
            }
        )

    async def capabilities(self) -> Mapping[str, Capability]:
        return self._offered

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:  # noqa: ARG002  # nothing here depends on it
        if capability not in self._offered:
            known = [offered.full_name for offered in self._offered.values()]
            raise CallFailed.before(CapabilityNotFound(f"{self.name}.{capability}", known))
        given = cast("dict[str, Any]", clone(dict(input)))
        pure = STD[capability].call
        if pure is not None:
            try:
                return CallResult(*pure(given))
            except StepFailed as exc:
                raise CallFailed(exc.code, exc.message, executed=True, details=exc.details) from exc
        return CallResult(
            self._offered[capability].contract.outcomes[0], {"value": await self._answer(capability, given)}
        )

    def status(self) -> SourceStatus:
        return SourceStatus(self.name, self.kind, self.enabled, "ready", len(self._offered), ())

    async def close(self) -> None:
        """Hold nothing, so let go of nothing."""

    async def _answer(self, capability: str, given: dict[str, Any]) -> JsonValue:
        match capability:
            case "now":
                return iso(self._clock.now())
            case "uuid":
                return self._new_uuid()
            case _:  # "sleep", which in a workflow is the kernel's: called by itself it waits here
                await anyio.sleep(given["seconds"])
                return given["seconds"]
