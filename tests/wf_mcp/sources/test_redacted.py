"""A source as the rest of the program sees it."""

from collections.abc import Mapping
from typing import Any

import pytest

from wf_artifacts.sources.models import Capability
from wf_core import CallContext
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import Redactor
from wf_mcp.sources.errors import CallFailed, SourceUnavailable
from wf_mcp.sources.protocol import CallResult, Diagnostic, SourceKind, SourceStatus
from wf_mcp.sources.redacted import RedactedSource

pytestmark = pytest.mark.anyio

SECRET = "sesame-street"


class Leaking:
    """Says the secret wherever something can be said."""

    name = "leaking"
    kind: SourceKind = "python"
    enabled = True

    async def capabilities(self) -> Mapping[str, Capability]:
        raise SourceUnavailable(self.name, f"No {SECRET}.", hint=f"Set {SECRET}.")

    async def capabilities_since(self, moment: float) -> Mapping[str, Capability]:
        return await self.capabilities()

    async def call(
        self, capability: str, input: Mapping[str, JsonValue], context: CallContext
    ) -> CallResult:  # fails whatever it is asked
        details: dict[str, Any] = {SECRET: [SECRET], "type": SECRET}
        raise CallFailed(SECRET, f"No {SECRET}.", executed=True, hint=f"Set {SECRET}.", details=details)

    def status(self) -> SourceStatus:
        diagnostic = Diagnostic("error", "invalid_capability", f"No {SECRET}.", f"Set {SECRET}.")
        return SourceStatus(self.name, self.kind, self.enabled, "ready", 0, (diagnostic,))

    async def close(self) -> None: ...


async def test_no_error_that_leaves_a_source_holds_a_secret(context: CallContext, redactor: Redactor) -> None:
    source = RedactedSource(Leaking(), redactor)

    with pytest.raises(CallFailed) as failed:
        await source.call("x", {}, context)
    with pytest.raises(SourceUnavailable) as unavailable:
        await source.capabilities()

    with pytest.raises(SourceUnavailable, match=r"^No \[redacted\]\. Set \[redacted\]\.$"):
        await source.capabilities_since(0)

    assert failed.value.executed
    assert failed.value.details == {"[redacted]": ["[redacted]"], "type": "[redacted]"}
    told = [vars(failed.value), vars(unavailable.value), failed.value.args, unavailable.value.args, source.status()]
    assert SECRET not in repr(told)
    assert "No [redacted]." in repr(source.status())
